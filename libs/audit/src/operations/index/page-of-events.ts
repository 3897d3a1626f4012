import { isClientId } from '#oauth/oauth-client.js';
import type { AuditEvent } from '../../event.js';
import type { NewCount, Occurrences } from '../../index/audit-index.store.js';
import { type AuditFilter, matcher, searchedValues } from '../../filter.js';
import { parseEvents, RecentIds } from '../../read-events.js';

export interface StoredAuditEvent {
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
export function timeOf({ event, storedAt }: StoredAuditEvent): number {
  return Math.max(0, Math.min(Date.parse(event.time), storedAt));
}

/**
 * Counts the events of clients, and refusals that name only a grant. Drops untrusted values that PostgreSQL rejects.
 */
export function countsOf(events: readonly StoredAuditEvent[], unit: Unit): NewCount[] {
  const counts = new Map<string, NewCount>();
  for (const stored of events) {
    if (!TYPE.test(stored.event.type)) continue;
    const { client_id: client = '', ...event } = stored.event;
    const clientId = isClientId(client) ? client : null;
    const grantId = grantOf(stored.event);
    const { check, error, reference } = causeOf(event);
    if (clientId === null && (grantId === null || check + error === '')) continue;
    const time = new Date(timeOf(stored));
    const start = startOf(unit, time.getTime());
    const key = [clientId, grantId, start, event.type, check, error].join('\n');
    const occurrence = { count: 1, first: time, last: time, reference };
    const counted = { clientId, grantId, start: new Date(start), type: event.type, check, error };
    counts.set(key, { ...counted, ...addOccurrences(counts.get(key), occurrence) });
  }
  return [...counts.values()];
}

/** @param added may be earlier than the known occurrences */
export function addOccurrences(known: Occurrences | undefined, added: Occurrences): Occurrences {
  if (!known) return added;
  const isLatest = known.last <= added.last;
  return {
    count: known.count + added.count,
    first: known.first < added.first ? known.first : added.first,
    last: isLatest ? added.last : known.last,
    reference: (isLatest ? added.reference : null) ?? known.reference ?? added.reference,
  };
}

const named = (text = ''): string => (NAME.test(text) ? text : '');

/** Returns the grant of an event without a client; null for any other event. */
export function grantOf({ client_id: client = '', grant_id: grant = '' }: AuditEvent): string | null {
  return client === '' && isClientId(grant) ? grant : null;
}

/** Returns texts that PostgreSQL accepts; empty if absent. */
export function causeOf({ check, error, reference = '' }: Pick<AuditEvent, 'check' | 'error' | 'reference'>) {
  return {
    check: named(check),
    error: named(error),
    reference: REFERENCE.test(reference) ? reference : null,
  };
}

export const END_OF_TIME = new Date('9999-01-01');

/** Position between two events of the trail, which is ordered by the time at which NATS stored the events. */
export interface Position {
  readonly storedAt: number;
  /** Number of matching events of this millisecond that are newer than the position. */
  readonly skip: number;
}

export interface Start extends Position {
  /** True for the events that are older than the position. */
  readonly isForward: boolean;
}

export const NEWEST: Start = { isForward: true, storedAt: END_OF_TIME.getTime(), skip: 0 };

/** Part of the trail. */
export interface FoundPage {
  /** Newest first. */
  readonly events: readonly AuditEvent[];
  /** Start of the following page, or null. A page with few events may be followed by another page. */
  readonly end: Position | null;
}

export interface FoundEvents extends FoundPage {
  /** True if some events were not read, because they are not indexed yet. */
  readonly isBehind: boolean;
}

/** Returns a text that the JSON of every matching event contains. */
export function needle(field: string, value: string | number): string {
  return `"${field}":${JSON.stringify(value)}`;
}

/** Keeps the matching events that follow the start most closely, in bounded memory. */
export class PageOfEvents {
  private readonly matches: (event: AuditEvent) => boolean;
  private readonly types: ReadonlySet<string> | null;
  private readonly needles: readonly string[];
  private readonly seen = new RecentIds();
  private matching: StoredAuditEvent[] = [];

  constructor(
    filter: AuditFilter,
    private readonly limit: number,
    private readonly start: Start,
  ) {
    this.matches = matcher(filter);
    this.types = filter.types ? new Set(filter.types) : null;
    this.needles = searchedValues(filter).map(({ field, value }) => needle(field, value));
  }

  /** Parses only messages that may contain a match, because parsing takes most of the time of a search. */
  add(data: Buffer, subject: string, storedAt: number): void {
    if (this.distance(storedAt) < 0 || !this.needles.every((text) => data.includes(text))) return;
    if (this.types && !this.types.has(subject.split('.').slice(3).join('.'))) return;
    for (const event of parseEvents(data.toString(), subject))
      if (this.matches(event) && this.seen.add(event)) this.matching.push({ event, storedAt });
    if (this.matching.length > 4 * (this.limit + this.start.skip)) this.trim();
  }

  /** @param bound events that were stored at this time or beyond may be missing; null if none is missing */
  isFull(bound: number | null): boolean {
    const { known, first } = this.known(bound);
    return known.length > first + this.limit;
  }

  build(bound: number | null): FoundPage {
    const { isForward } = this.start;
    const { known, first } = this.known(bound);
    const [shown, others] = [known.slice(first, first + this.limit), known.slice(first + this.limit)];
    const last = shown.at(-1);
    const events = shown.map(({ event }) => event);
    if (!isForward) events.reverse();
    if (others.length > 0 && last) {
      const { storedAt } = last;
      const newer = isForward ? known.slice(0, first + this.limit) : others;
      return { events, end: { storedAt, skip: newer.filter((event) => event.storedAt === storedAt).length } };
    }
    // Events of the bound itself follow the end.
    return { events, end: bound === null ? null : { storedAt: isForward ? bound : bound - 1, skip: 0 } };
  }

  /** Returns the complete part of the events in reading order, and the number of those before the start. */
  private known(bound: number | null): {
    readonly known: readonly StoredAuditEvent[];
    readonly first: number;
  } {
    const { isForward, storedAt, skip } = this.start;
    const limit = bound === null ? Infinity : this.distance(bound);
    const known = this.inOrder().filter((event) => this.distance(event.storedAt) < limit);
    const beside = known.filter((event) => event.storedAt === storedAt).length;
    return { known, first: isForward ? skip : Math.max(0, beside - skip) };
  }

  /** Keeps all events of a millisecond, because a position counts them. */
  private trim(): void {
    const { known, first } = this.known(null);
    const last = known[first + this.limit];
    if (!last) return;
    const furthest = this.distance(last.storedAt);
    this.matching = known.filter((event) => this.distance(event.storedAt) <= furthest);
  }

  /** Returns the milliseconds between the start and an event; a negative number if the event is on the other side. */
  private distance(storedAt: number): number {
    return this.start.isForward ? this.start.storedAt - storedAt : storedAt - this.start.storedAt;
  }

  private inOrder(): StoredAuditEvent[] {
    const newest = this.matching.toSorted(
      (a, b) =>
        b.storedAt - a.storedAt ||
        b.event.time.localeCompare(a.event.time) ||
        // Ids end with a counter without leading zeros, so the longer id is the later id.
        b.event.id.length - a.event.id.length ||
        b.event.id.localeCompare(a.event.id),
    );
    return this.start.isForward ? newest : newest.toReversed();
  }
}
