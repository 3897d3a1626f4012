import type { AuditEvent } from '../../event.js';
import type { NewCount } from '../../index/audit-index.store.js';
import { isClientId } from '#oauth/oauth-client.js';

export interface StoredEvent {
  readonly event: AuditEvent;
  readonly storedAt: number;
}

export type Unit = 'hour' | 'day';

const LENGTHS: Readonly<Record<Unit, number>> = { hour: 3_600_000, day: 86_400_000 };

const NAME = /^\w{1,64}$/;
const REFERENCE = /^[\w-]{12}$/;
/** Excludes NUL, which PostgreSQL rejects: any process may publish an event of an unknown type. */
const TYPE = /^[\w.]{1,64}$/;

export function linesOf(data: Uint8Array): number {
  let lines = 1;
  for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) lines++;
  return lines;
}

export function startOf(unit: Unit, time: number): number {
  return time - (time % LENGTHS[unit]);
}

export function nextStart(unit: Unit, start: number): number {
  return start + LENGTHS[unit];
}

/** Clamps the time of an event to the range from 1970 to its storage. A later time comes from a wrong clock. */
export function timeOf({ event, storedAt }: StoredEvent): number {
  return Math.max(0, Math.min(Date.parse(event.time), storedAt));
}

/**
 * Counts the events of clients, and refusals that name only a grant. Drops untrusted values that PostgreSQL rejects.
 */
export function countsOf(events: readonly StoredEvent[], unit: Unit): NewCount[] {
  const counts = new Map<string, NewCount>();
  for (const stored of events) {
    if (!TYPE.test(stored.event.type)) continue;
    const { client_id: client = '', grant_id: grant = '', ...event } = stored.event;
    const clientId = isClientId(client) ? client : null;
    const grantId = clientId === null && client === '' && isClientId(grant) ? grant : null;
    const [check, error] = [named(event.check), named(event.error)];
    if (clientId === null && (grantId === null || check + error === '')) continue;
    const time = timeOf(stored);
    const start = startOf(unit, time);
    const key = [clientId, grantId, start, event.type, check, error].join('\n');
    const before = counts.get(key);
    const isLatest = !before || before.last.getTime() <= time;
    const reference = REFERENCE.test(event.reference ?? '') ? (event.reference ?? null) : null;
    counts.set(key, {
      clientId,
      grantId,
      start: new Date(start),
      type: event.type,
      check,
      error,
      count: (before?.count ?? 0) + 1,
      first: before && before.first.getTime() < time ? before.first : new Date(time),
      last: isLatest ? new Date(time) : before.last,
      reference: (isLatest ? reference : null) ?? before?.reference ?? reference,
    });
  }
  return [...counts.values()];
}

const named = (text = ''): string => (NAME.test(text) ? text : '');
