import { Injectable } from '@nestjs/common';
import { keyFilter, keysOf } from '../../key-filter.js';
import { parseEvents } from '../../read-events.js';
import type { AuditReader, AuditStreamState, StoredMessage } from '../../reader.js';
import { AuditIndexStore, type IndexBatch } from '../../index/audit-index.store.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { refusedOf } from './refused-requests.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { countsOf, linesOf, startOf, type StoredAuditEvent, timeOf } from './page-of-events.js';

/** Fewer events per chunk would make the index larger. More events would make each search slower. */
const CHUNK_EVENTS = 1_000;
/**
 * Events per transaction. With fewer events, the same counts would be updated more often. With many more, statements
 * would exceed the timeout.
 */
const BATCH_EVENTS = 5 * CHUNK_EVENTS;
/** Messages per read. Messages that a transaction does not use are read again. */
const READ_MESSAGES = 50;
const MAX_AGE_MS = 60 * 60_000;
const DAY_MS = 86_400_000;
/** Number of days with hourly counts, more than an hourly chart shows. */
const HOURS_DAYS = 3;

/** Last sequence number, and time of the oldest new event. */
interface Waiting {
  readonly last: number;
  readonly since: number;
}

/** Indexes the audit trail in PostgreSQL. Several processes may index concurrently. */
@Injectable()
export class AuditIndexer {
  /** Streams with too few new events for a chunk. */
  private readonly waiting = new Map<string, Waiting>();

  constructor(
    private readonly trail: AuditTrail,
    private readonly index: AuditIndexStore,
    private readonly options: AdministrationOptions,
  ) {}

  /**
   * Indexes some events of each stream.
   * @returns true if there may be more
   * @throws the failure of a stream, after the other streams are indexed
   */
  async indexNew(now = Date.now()): Promise<boolean> {
    return this.trail.read(async (reader) => {
      let more = false;
      const failures: unknown[] = [];
      for (const state of await reader.streams())
        try {
          if (await this.append(reader, state, now)) more = true;
        } catch (error) {
          failures.push(error);
        }
      if (!more && failures.length > 0) throw failures[0];
      return more;
    });
  }

  /**
   * Deletes chunks and counts of events that are no longer in the trail, and merges hourly counts of days before the
   * last `HOURS_DAYS` days.
   */
  async prune(now = Date.now()): Promise<void> {
    const streams = await this.trail.read((reader) => reader.streams());
    const { days } = this.options.settings.auditRetention;
    await this.index.prune(streams, new Date(now - days * DAY_MS));
    await this.index.compact(new Date(startOf('day', now - HOURS_DAYS * DAY_MS)));
  }

  private async append(reader: AuditReader, state: AuditStreamState, now: number): Promise<boolean> {
    const { stream, created, lastSequence: last } = state;
    const name = `${stream} ${created}`;
    const waiting = this.waiting.get(name);
    if (waiting?.last === last && now - waiting.since < MAX_AGE_MS) return false;
    let incomplete: Waiting | undefined;
    const added = await this.index.append(state, async (after) => {
      const messages = await read(reader, stream, after + 1, last);
      const chunks = chunksOf(messages);
      const since = messages[0]?.storedAt ?? now;
      if (chunks.length === 0 && now - since >= MAX_AGE_MS) chunks.push(messages);
      if (chunks.length > 0) return batchOf(chunks);
      incomplete = { last, since };
      // Owners read refused requests from the index only, so these do not wait for a chunk.
      const known = waiting?.last ?? 0;
      const unseen = messages.filter(({ sequence }) => sequence > known);
      return { chunks: [], counts: [], refused: refusedOf(eventsOf(unseen)) };
    });
    // Only after the commit, because the next run skips what was seen.
    if (incomplete) this.waiting.set(name, incomplete);
    return added;
  }
}

async function read(
  reader: AuditReader,
  stream: string,
  first: number,
  last: number,
): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let lines = 0;
  if (first > last) return messages;
  for await (const batch of reader.messages(stream, first, last, READ_MESSAGES))
    for (const message of batch) {
      messages.push(message);
      lines += linesOf(message.data);
      if (lines >= BATCH_EVENTS) return messages;
    }
  return messages;
}

/** Omits an incomplete chunk. */
function chunksOf(messages: readonly StoredMessage[]): (readonly StoredMessage[])[] {
  const chunks: StoredMessage[][] = [];
  let chunk: StoredMessage[] = [];
  let lines = 0;
  for (const message of messages) {
    chunk.push(message);
    lines += linesOf(message.data);
    if (lines < CHUNK_EVENTS) continue;
    chunks.push(chunk);
    [chunk, lines] = [[], 0];
  }
  return chunks;
}

function batchOf(chunks: readonly (readonly StoredMessage[])[]): IndexBatch {
  const read = chunks.map((messages) => ({
    messages,
    events: eventsOf(messages),
  }));
  const all = read.flatMap(({ events }) => events);
  return {
    counts: countsOf(all, 'hour'),
    refused: refusedOf(all),
    chunks: read.flatMap(({ messages, events }) => {
      const [first, last] = [messages[0], messages.at(-1)];
      if (!first || !last) return [];
      const oldest = events.reduce((time, event) => Math.min(time, timeOf(event)), first.storedAt);
      return {
        first: first.sequence,
        last: last.sequence,
        firstStoredAt: new Date(first.storedAt),
        lastStoredAt: new Date(last.storedAt),
        oldestEventAt: new Date(oldest),
        filter: keyFilter(new Set(events.flatMap(({ event }) => keysOf(event)))),
      };
    }),
  };
}

function eventsOf(messages: readonly StoredMessage[]): StoredAuditEvent[] {
  return messages.flatMap(({ data, subject, storedAt }) =>
    parseEvents(Buffer.from(data).toString(), subject).map((event): StoredAuditEvent => ({
      event,
      storedAt,
    })),
  );
}
