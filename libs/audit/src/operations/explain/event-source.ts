import { AUDIT_KINDS, AUDIT_TYPES, type AuditEvent, type AuditType } from '../../event.js';
import type { AuditFilter } from '../../filter.js';
import type { AuditReader, Progress } from '../../reader.js';
import type { AuditIndex } from '../index/audit-index.js';
import { isSimilar } from './refusal-summary.js';

/** Milliseconds before and after a request for which the client's other events are shown. */
const AROUND_MS = 5 * 60_000;
export const MAX_AROUND = 40;
/** Limit of the events after a request that are read from the index. If there are more, the latest are read. */
const MAX_INDEXED = 1_000;
/** All processes record their events of a request within this time. */
const ONE_REQUEST_MS = 60_000;
const MAX_SIMILAR = 5;
const DAY_MS = 24 * 60 * 60_000;

/** Types that are searched first, because they are rare and nearly every reported reference belongs to them. */
const REFUSALS: readonly AuditType[] = [
  ...AUDIT_KINDS.refusals.types,
  'token.reuse_detected',
  'grant.revoked',
  'consent.denied',
];

const USES: readonly AuditType[] = [
  'token.issued',
  'token.refreshed',
  'token.retried',
  'token.reuse_detected',
];
const MAX_USES = 20;

interface ReadEvents {
  readonly events: readonly AuditEvent[];
  /** True if some events were not read, because they are not indexed yet. */
  readonly isBehind: boolean;
}

export interface EventSource {
  request(reference: string): Promise<ReadEvents & { readonly similar: readonly string[] }>;
  around(clientId: string, at: number): Promise<ReadEvents>;
  uses(grantId: string): Promise<ReadEvents>;
}

export const NO_EVENTS: ReadEvents = { events: [], isBehind: false };

/** Reads the whole trail to find a request, and the minutes around the request. */
export function wholeTrail(reader: AuditReader, progress: Progress): EventSource {
  return {
    async request(reference) {
      const similar = new Set<string>();
      const others = AUDIT_TYPES.filter((type) => !REFUSALS.includes(type));
      // NATS filters by type and time, not by reference. Most references are reported on the same day.
      const passes = [
        { types: REFUSALS, since: new Date(Date.now() - DAY_MS) },
        { types: REFUSALS },
        { types: others },
      ];
      for (const pass of passes) {
        const events = await eventsOf(reader, { reference, ...pass, similar, progress });
        if (events.length > 0) return { events, similar: [], isBehind: false };
      }
      return { ...NO_EVENTS, similar: [...similar] };
    },
    async around(clientId, at) {
      const around: AuditEvent[] = [];
      for await (const event of reader.read({ since: new Date(at - AROUND_MS) }, progress)) {
        if (Date.parse(event.time) > at + AROUND_MS) break;
        if (event.client_id === clientId) around.push(event);
      }
      return { events: around, isBehind: false };
    },
    async uses(grantId) {
      const uses: AuditEvent[] = [];
      for await (const use of reader.read({ grantId, types: USES }, progress)) {
        uses.push(use);
        if (uses.length > MAX_USES) uses.shift();
      }
      return { events: uses, isBehind: false };
    },
  };
}

/** Reads only the parts of the trail that may contain the events. */
export function indexed(reader: AuditReader, index: AuditIndex): EventSource {
  const streams = reader.streams();
  const find = async (filter: AuditFilter, limit: number): Promise<ReadEvents> => {
    const { events, isBehind } = await index.find(reader, filter, limit, undefined, streams);
    return { events: events.toReversed(), isBehind };
  };
  return {
    async request(reference) {
      return { ...(await find({ reference }, MAX_AROUND)), similar: [] };
    },
    async around(clientId, at) {
      const middle = new Date(at);
      const [before, after] = await Promise.all([
        find({ clientId, since: new Date(at - AROUND_MS), until: middle }, MAX_AROUND),
        find({ clientId, since: middle, until: new Date(at + AROUND_MS) }, MAX_INDEXED),
      ]);
      return {
        events: [...before.events, ...after.events],
        isBehind: before.isBehind || after.isBehind,
      };
    },
    uses: (grantId) => find({ grantId, types: USES }, MAX_USES),
  };
}

async function eventsOf(
  reader: AuditReader,
  wanted: {
    readonly reference: string;
    readonly types: readonly AuditType[];
    readonly since?: Date;
    readonly similar: Set<string>;
    readonly progress: Progress;
  },
): Promise<AuditEvent[]> {
  const { reference, types, since, similar, progress } = wanted;
  const events: AuditEvent[] = [];
  // Not filtered by reference: the loop ends soon after the request, and collects similar references.
  for await (const event of reader.read({ types, since }, progress)) {
    const [first] = events;
    if (first && Date.parse(event.time) > Date.parse(first.time) + ONE_REQUEST_MS) break;
    if (event.reference === undefined) continue;
    if (event.reference === reference) events.push(event);
    else if (similar.size < MAX_SIMILAR && isSimilar(event.reference, reference))
      similar.add(event.reference);
  }
  return events;
}
