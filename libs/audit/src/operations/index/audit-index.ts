import { Injectable } from '@nestjs/common';
import { type AuditFilter, sourcesOf } from '../../filter.js';
import { parseEvents, RecentIds } from '../../read-events.js';
import { HASHES, hashed, keysOfFilter } from '../../key-filter.js';
import type { AuditReader, AuditStreamState } from '../../reader.js';
import {
  type AuditChunk,
  AuditIndexStore,
  type EventCount,
  type IndexedPosition,
  type NewCount,
} from '../../index/audit-index.store.js';
import {
  countsOf,
  END_OF_TIME,
  type FoundEvents,
  linesOf,
  needle,
  NEWEST,
  PageOfEvents,
  type Start,
  type StoredAuditEvent,
  type Unit,
} from './page-of-events.js';

/** Maximum number of chunks that one page reads, which bounds the response time. */
const MAX_CHUNKS = 20;
const CONCURRENT_CHUNKS = 4;
/** Approximate limit of unindexed events that a call reads from each stream. */
const MAX_TAIL = 3_000;
/** Number of messages in the first read. A message contains between one and about a hundred events. */
const FIRST_MESSAGES = 30;
/** Maximum difference between the clocks of NATS and of the processes, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;
@Injectable()
export class AuditIndex {
  constructor(private readonly index: AuditIndexStore) {}

  async find(
    reader: AuditReader,
    filter: AuditFilter,
    limit: number,
    start = NEWEST,
    all = reader.streams(),
  ): Promise<FoundEvents> {
    const { isForward, storedAt } = start;
    const names = new Set(sourcesOf(filter).map(({ stream }) => stream));
    const streams = (await all).filter(({ stream }) => names.has(stream));
    const page = new PageOfEvents(filter, limit, start);
    const positions = await this.index.positions(streams);
    const unindexed = streams.filter(
      ({ stream }) => !isForward || (positions.get(stream)?.storedAt.getTime() ?? 0) <= storedAt,
    );
    const isBehind = await readTails(reader, unindexed, positions, (...message) => page.add(...message));
    const chunks = await this.chunks(streams, filter, start);
    let bound: number | null = null;
    for (let at = 0; at < chunks.length; at += CONCURRENT_CHUNKS) {
      bound = boundOf(chunks[at], isForward);
      const isLast = at >= MAX_CHUNKS && isBeyond(bound, start);
      if (isLast || page.isFull(bound)) break;
      await Promise.all(
        chunks
          .slice(at, at + CONCURRENT_CHUNKS)
          .map(({ stream, first, last }) =>
            readMessages(reader, stream, first, last, (...message) => page.add(...message)),
          ),
      );
      bound = null;
    }
    return { ...page.build(bound), isBehind };
  }

  /** Also counts events that are not indexed yet. @param since start of an hour or day, as `unit` */
  async counts(
    reader: AuditReader,
    clientId: string,
    since: Date,
    unit: Unit,
    ofClient: (grantIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<{ readonly counts: readonly EventCount[]; readonly isBehind: boolean }> {
    const named = needle('client_id', clientId);
    // The refusal of an API names the grant, but not the client.
    const { recent, isBehind } = await this.recent(
      reader,
      (data, subject) => subject.startsWith('oauth.refusal.') || data.includes(named),
    );
    const later = countsOf(recent, unit).filter(({ last }) => last >= since);
    const grants = await ofClient(later.flatMap(({ grantId }) => (grantId === null ? [] : [grantId])));
    const own = later.filter((count) => count.clientId === clientId || grants.has(count.grantId ?? ''));
    return { counts: [...(await this.index.counts(clientId, since, unit)), ...own], isBehind };
  }

  /** Counts refusals that are not indexed yet, by hour. */
  async recentRefusals(
    reader: AuditReader,
  ): Promise<{ readonly counts: readonly NewCount[]; readonly isBehind: boolean }> {
    const { recent, isBehind } = await this.recent(
      reader,
      (data) => data.includes('"check":') || data.includes('"error":'),
    );
    const counts = countsOf(recent, 'hour').filter(({ check, error }) => check + error !== '');
    return { counts, isBehind };
  }

  /** Returns the events that are not indexed yet. @param mayMatch selects the messages to parse */
  private async recent(
    reader: AuditReader,
    mayMatch: (data: Buffer, subject: string) => boolean,
  ): Promise<{ readonly recent: readonly StoredAuditEvent[]; readonly isBehind: boolean }> {
    const streams = await reader.streams();
    const positions = await this.index.positions(streams);
    const recent: StoredAuditEvent[] = [];
    const seen = new RecentIds();
    const isBehind = await readTails(reader, streams, positions, (data, subject, storedAt) => {
      if (!mayMatch(data, subject)) return;
      for (const event of parseEvents(data.toString(), subject))
        if (seen.add(event)) recent.push({ event, storedAt });
    });
    return { recent, isBehind };
  }

  /** Returns one page of chunks that may contain a match, and the next chunk, which bounds the page. */
  private async chunks(
    streams: readonly AuditStreamState[],
    filter: AuditFilter,
    start: Start,
  ): Promise<readonly AuditChunk[]> {
    const { isForward, storedAt } = start;
    const since = Math.max(0, (filter.since?.getTime() ?? 0) - CLOCK_SKEW_MS);
    const query = {
      streams,
      keys: keysOfFilter(filter).map(hashed),
      hashes: HASHES,
      storedSince: new Date(isForward ? since : Math.max(since, storedAt)),
      storedUntil: isForward ? new Date(storedAt) : END_OF_TIME,
      happenedBefore: filter.until ?? END_OF_TIME,
      isForward,
    };
    for (let limit = MAX_CHUNKS + 1; ; limit *= 2) {
      const chunks = await this.index.chunks({ ...query, limit });
      // Reads more chunks while all of them reach the start, because the following page would begin there again.
      if (chunks.length < limit || isBeyond(boundOf(chunks.at(-1), isForward), start)) return chunks;
    }
  }
}

/** Returns the time of storage from which on, in reading direction, events are missing if this chunk was not read. */
function boundOf(chunk: AuditChunk | undefined, isForward: boolean): number | null {
  return (isForward ? chunk?.lastStoredAt : chunk?.firstStoredAt)?.getTime() ?? null;
}

const isBeyond = (bound: number | null, { isForward, storedAt }: Start): boolean =>
  bound !== null && (isForward ? bound < storedAt : bound > storedAt);

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
