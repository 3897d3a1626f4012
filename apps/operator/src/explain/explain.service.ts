import { AUDIT_KINDS, AUDIT_TYPES, type AuditEvent, type AuditType } from '#audit/event.js';
import type { AuditReader } from '#audit/reader.js';
import { readableScopes } from '../scope/read-scopes.js';
import { clientIdOf, type Explanation, explanationOf, isRefusal } from './explanation.js';
import type { GrantOwner, GrantOwners } from './grant-owners.js';
import { isSimilar } from './reference.js';
import { type RefusalSummary, SummaryBuilder } from './refusal-summary.js';

/** What the same client did before and after, in milliseconds. */
const AROUND_MS = 5 * 60_000;
/** Of those events, the nearest. */
const MAX_AROUND = 40;
/** The processes that handle one request record their events within this time. */
const ONE_REQUEST_MS = 60_000;
const MAX_SIMILAR = 5;
/** Events of one question to PostgreSQL. */
const BATCH = 500;
/** The refusals that are searched first, in milliseconds. */
const RECENT_MS = 24 * 60 * 60_000;

/** Almost every reference that is reported belongs to an event of these types. They are few, so they are searched first. */
const REFUSALS: readonly AuditType[] = [
  ...AUDIT_KINDS.refusals.types,
  'token.reuse_detected',
  'grant.revoked',
  'consent.denied',
];

/** Events of which each is a use of a code or refresh token. */
const USES: readonly AuditType[] = [
  'token.issued',
  'token.refreshed',
  'token.retried',
  'token.reuse_detected',
];
const MAX_USES = 20;

/** Reports how many stored events have been read. */
export type Progress = (read: number, total: number) => void;

export type Found =
  | {
      readonly explanation: Explanation;
      readonly around: readonly AuditEvent[];
      /** Of the grant, the latest, for a code or token that was used again; otherwise empty. */
      readonly uses: readonly AuditEvent[];
    }
  | { readonly explanation: null; readonly similar: readonly string[] };

/** Finds the request of a reference in the audit trail, and what the same client did at that time. */
export async function explainReference(
  reader: AuditReader,
  owners: GrantOwners,
  reference: string,
  progress: Progress,
): Promise<Found> {
  const similar = new Set<string>();
  const others = AUDIT_TYPES.filter((type) => !REFUSALS.includes(type));
  // NATS finds events by type and time, not by reference. Most complaints are of today.
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

/** Everything of a client that was refused, also by APIs. */
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

/** Whose the grant of a request is, where no event names its client. */
async function ownerOf(events: readonly AuditEvent[], owners: GrantOwners): Promise<GrantOwner | null> {
  const grantId = events.find(({ grant_id: id }) => id !== undefined)?.grant_id;
  const isNamed = events.some(({ client_id: id }) => id !== undefined);
  return isNamed || grantId === undefined ? null : owners.find(grantId);
}

/** @param similar gets references that resemble the wanted one */
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
  // Unfiltered, to end soon after the request, and to see similar references.
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

/** The other events of the client; without a client, none: they would be those of everybody. */
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

/** The issues and refreshes of the grant whose code or token was used again, and that use. */
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
