import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '#audit/event.js';
import { type AuditFilter, matcher, sourcesOf } from '#audit/filter.js';
import { RecentIds } from '#audit/in-order.js';
import { HASHES, hashed, keysOfFilter } from '#audit/key-filter.js';
import { parseEvents } from '#audit/parse-events.js';
import type { AuditReader, AuditStreamState } from '#audit/reader.js';
import {
  AuditIndexStore,
  type EventCount,
  type IndexedPosition,
  type NewCount,
} from '#database/audit-index/audit-index.store.js';
import { countsOf, linesOf, type StoredEvent, type Unit } from './event-counts.js';

/** Maximum number of chunks that one page reads, which bounds the response time. */
const MAX_CHUNKS = 20;
const CONCURRENT_CHUNKS = 4;
/** Approximate limit of unindexed events that a call reads from each stream. */
const MAX_TAIL = 3_000;
/** Number of messages in the first read. A message contains between one and about a hundred events. */
const FIRST_MESSAGES = 30;
/** Maximum difference between the clocks of NATS and of the processes, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
const END_OF_TIME = new Date('9999-01-01');

/** Position in the trail, which is ordered by the time at which NATS stored the events. */
export interface Cursor {
  readonly storedAt: number;
  /** Number of matching events of this millisecond on earlier pages. */
  readonly skip: number;
}

export interface FoundEvents {
  readonly events: readonly AuditEvent[];
  /** Start of the next page, or null. A page may contain fewer events than its limit although another page follows. */
  readonly next: Cursor | null;
  /** True if some events were not read, because they are not indexed yet. */
  readonly isBehind: boolean;
}

@Injectable()
export class AuditIndex {
  constructor(private readonly index: AuditIndexStore) {}

  async find(
    reader: AuditReader,
    filter: AuditFilter,
    limit: number,
    before: Cursor = { storedAt: END_OF_TIME.getTime(), skip: 0 },
    all = reader.streams(),
  ): Promise<FoundEvents> {
    const names = new Set(sourcesOf(filter).map(({ stream }) => stream));
    const streams = (await all).filter(({ stream }) => names.has(stream));
    const page = new PageOfEvents(filter, limit, before);
    const positions = await this.index.positions(streams);
    const newer = streams.filter(
      ({ stream }) => (positions.get(stream)?.storedAt.getTime() ?? 0) <= before.storedAt,
    );
    const isBehind = await readTails(reader, newer, positions, (...message) => page.add(...message));
    const chunks = await this.chunks(streams, filter, before.storedAt);
    let searchedUntil = -Infinity;
    for (let at = 0; at < chunks.length; at += CONCURRENT_CHUNKS) {
      searchedUntil = chunks[at]?.lastStoredAt.getTime() ?? -Infinity;
      const isLast = at >= MAX_CHUNKS && searchedUntil < before.storedAt;
      if (isLast || page.isFull(searchedUntil)) break;
      await Promise.all(
        chunks
          .slice(at, at + CONCURRENT_CHUNKS)
          .map(({ stream, first, last }) =>
            readMessages(reader, stream, first, last, (...message) => page.add(...message)),
          ),
      );
      searchedUntil = -Infinity;
    }
    return { ...page.build(searchedUntil), isBehind };
  }

  /** Also counts events that are not indexed yet. @param since start of an hour or day, as `unit` */
  async counts(
    reader: AuditReader,
    clientId: string,
    since: Date,
    unit: Unit,
    ofClient: (grantIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<{ readonly counts: readonly EventCount[]; readonly isBehind: boolean }> {
    const streams = await reader.streams();
    const positions = await this.index.positions(streams);
    const named = needle('client_id', clientId);
    const recent: StoredEvent[] = [];
    const seen = new RecentIds();
    const isBehind = await readTails(reader, streams, positions, (data, subject, storedAt) => {
      // The refusal of an API names the grant, but not the client.
      if (!subject.startsWith('oauth.refusal.') && !data.includes(named)) return;
      for (const event of parseEvents(data.toString(), subject))
        if (seen.add(event.id)) recent.push({ event, storedAt });
    });
    const later = countsOf(recent, unit).filter(({ last }) => last >= since);
    const grants = await ofClient(later.flatMap(({ grantId }) => (grantId === null ? [] : [grantId])));
    const own = later.filter((count) => count.clientId === clientId || grants.has(count.grantId ?? ''));
    return { counts: [...(await this.index.counts(clientId, since, unit)), ...own], isBehind };
  }

  /** Counts refusals that are not indexed yet, by hour. */
  async recentRefusals(
    reader: AuditReader,
  ): Promise<{ readonly counts: readonly NewCount[]; readonly isBehind: boolean }> {
    const streams = await reader.streams();
    const positions = await this.index.positions(streams);
    const recent: StoredEvent[] = [];
    const seen = new RecentIds();
    const isBehind = await readTails(reader, streams, positions, (data, subject, storedAt) => {
      if (!data.includes('"check":') && !data.includes('"error":')) return;
      for (const event of parseEvents(data.toString(), subject))
        if (seen.add(event.id)) recent.push({ event, storedAt });
    });
    const counts = countsOf(recent, 'hour').filter(({ check, error }) => check + error !== '');
    return { counts, isBehind };
  }

  /** Returns one page of chunks that may contain a match, and the next chunk, which bounds the page. */
  private async chunks(streams: readonly AuditStreamState[], filter: AuditFilter, before: number) {
    const query = {
      streams,
      keys: keysOfFilter(filter).map(hashed),
      hashes: HASHES,
      storedSince: new Date(Math.max(0, (filter.since?.getTime() ?? 0) - CLOCK_SKEW_MS)),
      storedUntil: new Date(before),
      happenedBefore: filter.until ?? END_OF_TIME,
    };
    for (let limit = MAX_CHUNKS + 1; ; limit *= 2) {
      const chunks = await this.index.chunks({ ...query, limit });
      const last = chunks.at(-1);
      // Reads more chunks while all of them end at `before`, because the next page would begin there again.
      if (!last || chunks.length < limit || last.lastStoredAt.getTime() < before) return chunks;
    }
  }
}

type OnMessage = (data: Buffer, subject: string, storedAt: number) => void;

/** Reads messages that are not indexed yet. @returns true if `MAX_TAIL` left some of them unread */
async function readTails(
  reader: AuditReader,
  streams: readonly AuditStreamState[],
  positions: ReadonlyMap<string, IndexedPosition>,
  onMessage: OnMessage,
): Promise<boolean> {
  const behind = streams.map(async ({ stream, firstSequence, lastSequence }) => {
    const first = Math.max((positions.get(stream)?.sequence ?? 0) + 1, firstSequence);
    let [next, messages, events] = [lastSequence, FIRST_MESSAGES, 0];
    while (next >= first && events < MAX_TAIL) {
      const from = Math.max(first, next - messages + 1);
      events += await readMessages(reader, stream, from, next, onMessage);
      next = from - 1;
      const perMessage = Math.max(1, events / (lastSequence - next));
      messages = Math.ceil((MAX_TAIL - events) / perMessage);
    }
    return next >= first;
  });
  return (await Promise.all(behind)).includes(true);
}

async function readMessages(
  reader: AuditReader,
  stream: string,
  first: number,
  last: number,
  onMessage: OnMessage,
): Promise<number> {
  let events = 0;
  for await (const batch of reader.messages(stream, first, last))
    for (const { data, subject, storedAt } of batch) {
      const message = Buffer.from(data.buffer, data.byteOffset, data.length);
      events += linesOf(message);
      onMessage(message, subject, storedAt);
    }
  return events;
}

/** Returns a text that the JSON of every matching event contains. */
function needle(field: string, value: string | number): string {
  return `"${field}":${JSON.stringify(value)}`;
}

/** Keeps the newest matching events before a position, in bounded memory. */
class PageOfEvents {
  private readonly matches: (event: AuditEvent) => boolean;
  private readonly types: ReadonlySet<string> | null;
  private readonly needles: readonly string[];
  private readonly seen = new RecentIds();
  private matching: StoredEvent[] = [];

  constructor(
    filter: AuditFilter,
    private readonly limit: number,
    private readonly before: Cursor,
  ) {
    const { types, clientId, userId, grantId, reference, check, operator } = filter;
    this.matches = matcher(filter);
    this.types = types ? new Set(types) : null;
    const fields = { client_id: clientId, user_id: userId, grant_id: grantId, reference, check, operator };
    this.needles = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [needle(name, value)],
    );
  }

  /** Parses only messages that may contain a match, because parsing takes most of the time of a search. */
  add(data: Buffer, subject: string, storedAt: number): void {
    if (storedAt > this.before.storedAt || !this.needles.every((text) => data.includes(text))) return;
    if (this.types && !this.types.has(subject.split('.').slice(3).join('.'))) return;
    for (const event of parseEvents(data.toString(), subject))
      if (this.matches(event) && this.seen.add(event.id)) this.matching.push({ event, storedAt });
    if (this.matching.length > 4 * this.size) this.matching = this.newest().slice(0, this.size + 1);
  }

  /** @param searchedUntil events that were stored at this time or earlier may be missing */
  isFull(searchedUntil: number): boolean {
    return this.matching.filter(({ storedAt }) => storedAt > searchedUntil).length > this.size;
  }

  build(searchedUntil: number): { readonly events: readonly AuditEvent[]; readonly next: Cursor | null } {
    const newest = this.newest().filter(({ storedAt }) => storedAt > searchedUntil);
    const shown = newest.slice(this.before.skip, this.size);
    const events = shown.map(({ event }) => event);
    const last = shown.at(-1);
    if (newest.length > this.size && last) {
      const { storedAt } = last;
      const skipped = newest.slice(0, this.size).filter((event) => event.storedAt === storedAt).length;
      return { events, next: { storedAt, skip: skipped } };
    }
    return { events, next: searchedUntil === -Infinity ? null : { storedAt: searchedUntil, skip: 0 } };
  }

  private get size(): number {
    return this.limit + this.before.skip;
  }

  private newest(): StoredEvent[] {
    return this.matching.toSorted(
      (a, b) =>
        b.storedAt - a.storedAt ||
        b.event.time.localeCompare(a.event.time) ||
        // Ids end with a counter without leading zeros, so the longer id is the later id.
        b.event.id.length - a.event.id.length ||
        b.event.id.localeCompare(a.event.id),
    );
  }
}
