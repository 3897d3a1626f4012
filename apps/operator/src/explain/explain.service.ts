import { AUDIT_KINDS, AUDIT_TYPES, type AuditEvent, type AuditType } from '#audit/event.js';
import type { AuditReader } from '#audit/reader.js';
import { readableScopes } from '../scope/read-scopes.js';
import { clientIdOf, type Explanation, explanationOf, isRefusal } from './explanation.js';
import type { GrantOwner, GrantOwners } from './grant-owners.js';
import { isSimilar } from './reference.js';
import { type RefusalSummary, SummaryBuilder } from './refusal-summary.js';

/** Time before and after a request in which events of the same client are shown, in milliseconds. */
const AROUND_MS = 5 * 60_000;
/** The nearest of those events. */
const MAX_AROUND = 40;
/** All processes record their events of a request within this time. */
const ONE_REQUEST_MS = 60_000;
const MAX_SIMILAR = 5;
const BATCH = 500;
/** Age of the refusals that are searched first, in milliseconds. */
const RECENT_MS = 24 * 60 * 60_000;

/** Types of almost all events whose reference is reported. They are few, so that they are searched first. */
const REFUSALS: readonly AuditType[] = [
  ...AUDIT_KINDS.refusals.types,
  'token.reuse_detected',
  'grant.revoked',
  'consent.denied',
];

/** Each of these events is a use of a code or refresh token. */
const USES: readonly AuditType[] = [
  'token.issued',
  'token.refreshed',
  'token.retried',
  'token.reuse_detected',
];
const MAX_USES = 20;

export type Progress = (read: number, total: number) => void;

export type Found =
  | {
      readonly explanation: Explanation;
      readonly around: readonly AuditEvent[];
      /** Latest uses of the grant, if a code or token was reused; otherwise empty. */
      readonly uses: readonly AuditEvent[];
    }
  | { readonly explanation: null; readonly similar: readonly string[] };

/** Finds the request of a reference in the audit trail, and the events of the same client around it. */
export async function explainReference(
  reader: AuditReader,
  owners: GrantOwners,
  reference: string,
  progress: Progress,
): Promise<Found> {
  const similar = new Set<string>();
  const others = AUDIT_TYPES.filter((type) => !REFUSALS.includes(type));
  // NATS filters by type and time, not by reference. Most references are reported on the same day.
  const passes = [
    { types: REFUSALS, since: new Date(Date.now() - RECENT_MS) },
    { types: REFUSALS },
    { types: others },
  ];
  for (const pass of passes) {
    const events = await eventsOf(reader, { reference, ...pass, similar, progress });
    if (!isNotEmpty(events)) continue;
    const owner = await ownerOf(events, owners);
    const clientId = clientIdOf(events, owner);
    const client = clientId === null ? undefined : await owners.client(clientId);
    const explanation = explanationOf(reference, events, owner, {
      client,
      scopes: readableScopes()?.names ?? null,
    });
    return {
      explanation,
      around: await eventsAround(reader, explanation, progress),
      uses: await usesOf(reader, explanation, progress),
    };
  }
  return { explanation: null, similar: [...similar] };
}

/** Summarizes all refused requests of a client, including those that APIs refused. */
export async function summarize(
  reader: AuditReader,
  owners: GrantOwners,
  { clientId, since }: { readonly clientId: string; readonly since: Date },
  progress: Progress,
): Promise<RefusalSummary> {
  const summary = new SummaryBuilder();
  let unassigned: AuditEvent[] = [];
  const assign = async () => {
    const grants = [...new Set(unassigned.map(({ grant_id: id = '' }) => id))];
    const own = grants.length === 0 ? null : await owners.ofClient(clientId, grants);
    for (const event of unassigned) if (own?.has(event.grant_id ?? '')) summary.add(event);
    unassigned = [];
  };
  for await (const event of reader.read({ since }, progress)) {
    if (event.client_id === clientId) summary.add(event);
    else if (event.client_id === undefined && event.grant_id !== undefined && isRefusal(event))
      unassigned.push(event);
    if (unassigned.length === BATCH) await assign();
  }
  await assign();
  return summary.build();
}

/** Looks up the grant of a request if no event names the client. */
async function ownerOf(events: readonly AuditEvent[], owners: GrantOwners): Promise<GrantOwner | null> {
  const grantId = events.find(({ grant_id: id }) => id !== undefined)?.grant_id;
  const isNamed = events.some(({ client_id: id }) => id !== undefined);
  return isNamed || grantId === undefined ? null : owners.find(grantId);
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
  const found: AuditEvent[] = [];
  // Not filtered by reference: the loop ends soon after the request, and collects similar references.
  for await (const event of reader.read({ types, since }, progress)) {
    const [first] = found;
    if (first && Date.parse(event.time) > Date.parse(first.time) + ONE_REQUEST_MS) break;
    if (event.reference === undefined) continue;
    if (event.reference === reference) found.push(event);
    else if (similar.size < MAX_SIMILAR && isSimilar(event.reference, reference))
      similar.add(event.reference);
  }
  return found;
}

/** Returns the other events of the client. Without a client id, the filter would match every client. */
async function eventsAround(
  reader: AuditReader,
  { reference, event, clientId }: Explanation,
  progress: Progress,
): Promise<AuditEvent[]> {
  if (clientId === null) return [];
  const at = Date.parse(event.time);
  const around: AuditEvent[] = [];
  for await (const other of reader.read({ since: new Date(at - AROUND_MS) }, progress)) {
    if (Date.parse(other.time) > at + AROUND_MS) break;
    if (other.client_id === clientId && other.reference !== reference) around.push(other);
  }
  const distance = ({ time }: AuditEvent) => Math.abs(Date.parse(time) - at);
  return around
    .toSorted((one, other) => distance(one) - distance(other))
    .slice(0, MAX_AROUND)
    .toSorted((one, other) => one.time.localeCompare(other.time));
}

async function usesOf(
  reader: AuditReader,
  { event, grantId }: Explanation,
  progress: Progress,
): Promise<AuditEvent[]> {
  if (event.type !== 'token.reuse_detected' || grantId === null) return [];
  const uses: AuditEvent[] = [];
  for await (const use of reader.read({ grantId, types: USES }, progress)) {
    uses.push(use);
    if (uses.length > MAX_USES) uses.shift();
  }
  return uses;
}

function isNotEmpty<T>(list: readonly T[]): list is readonly [T, ...T[]] {
  return list.length > 0;
}
