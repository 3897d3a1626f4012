import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditChunkEntity } from './audit-index.entity.js';
import { addRefused, type NewRefusedRequest, REFUSED_DAYS } from './refused-request.store.js';

/** Arbitrary number of the advisory lock that serializes the writers of a stream. */
const LOCK = 1_402_775_938;

/** Range of a stream; `first` and `last` are sequence numbers. */
export interface AuditChunk {
  readonly stream: string;
  readonly streamCreated: string;
  readonly first: number;
  readonly last: number;
  readonly firstStoredAt: Date;
  readonly lastStoredAt: Date;
  readonly oldestEventAt: Date;
}

export interface IndexedPosition {
  readonly sequence: number;
  readonly storedAt: Date;
}

export interface Occurrences {
  readonly count: number;
  readonly first: Date;
  readonly last: Date;
  /** Latest reference; null if no event has a reference. */
  readonly reference: string | null;
}

export interface EventCount extends Occurrences {
  /** Start of the hour, or of the day in UTC. */
  readonly start: Date;
  readonly type: string;
  readonly check: string;
  readonly error: string;
}

/** Without a client, the events are counted for the grant's client. The ids must be texts that PostgreSQL accepts. */
export interface NewCount extends EventCount {
  readonly clientId: string | null;
  readonly grantId: string | null;
}

export interface IndexBatch {
  readonly chunks: readonly (Omit<AuditChunk, 'stream' | 'streamCreated'> & { readonly filter: Buffer })[];
  readonly counts: readonly NewCount[];
  /** May contain known requests. */
  readonly refused: readonly NewRefusedRequest[];
}

export interface ChunkQuery {
  readonly streams: readonly { readonly stream: string; readonly created: string }[];
  /** Selects chunks that may contain an event with all of these keys. */
  readonly keys: readonly { readonly first: number; readonly step: number }[];
  readonly hashes: number;
  readonly storedSince: Date;
  readonly storedUntil: Date;
  readonly happenedBefore: Date;
  /** True for the latest chunks first, false for the earliest. */
  readonly isForward: boolean;
  readonly limit: number;
}

/** Index of the audit trail in NATS: event counts per client and hour, and the positions of events in the streams. */
@Injectable()
export class AuditIndexStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds the chunks, counts and refused requests that `read` returns for the events after the stream's position.
   * Position and counts change in one transaction, and each stream has only one such transaction at a time, so that
   * several processes never count an event twice.
   * @returns false if there is no chunk to add, or if another process is adding to the stream
   */
  append(
    { stream, created }: { readonly stream: string; readonly created: string },
    read: (after: number) => Promise<IndexBatch>,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [{ locked } = { locked: false }] = await manager.query<{ locked: boolean }[]>(
        'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS locked',
        [LOCK, stream],
      );
      if (!locked) return false;
      const where = { stream, streamCreated: created };
      const last = await manager.findOne(AuditChunkEntity, {
        select: { lastSequence: true },
        where,
        order: { lastSequence: 'DESC' },
      });
      const batch = await read(Number(last?.lastSequence ?? 0));
      await addRefused(manager, batch.refused);
      if (batch.chunks.length === 0) return false;
      await addCounts(manager, batch.counts);
      await manager.insert(
        AuditChunkEntity,
        batch.chunks.map(({ first, last: end, ...chunk }) => ({
          ...where,
          ...chunk,
          firstSequence: String(first),
          lastSequence: String(end),
        })),
      );
      return true;
    });
  }

  async positions(
    streams: readonly { readonly stream: string; readonly created: string }[],
  ): Promise<ReadonlyMap<string, IndexedPosition>> {
    const rows = await this.dataSource.query<{ stream: string; sequence: string; stored_at: Date }[]>(
      `SELECT stream, last.last_sequence AS sequence, last.last_stored_at AS stored_at
       FROM unnest($1::text[], $2::text[]) AS known (stream, created),
         LATERAL (SELECT last_sequence, last_stored_at FROM audit_chunks c
                  WHERE c.stream = known.stream AND c.stream_created = known.created
                  ORDER BY last_sequence DESC LIMIT 1) AS last`,
      [streams.map(({ stream }) => stream), streams.map(({ created }) => created)],
    );
    return new Map(
      rows.map((row) => [row.stream, { sequence: Number(row.sequence), storedAt: row.stored_at }]),
    );
  }

  /** Returns chunks that may contain a matching event. */
  async chunks(query: ChunkQuery): Promise<AuditChunk[]> {
    const { streams, keys, hashes, storedSince, storedUntil, happenedBefore, isForward, limit } = query;
    const values: unknown[] = [
      streams.map(({ stream }) => stream),
      streams.map(({ created }) => created),
      storedSince,
      storedUntil,
      happenedBefore,
      limit,
    ];
    // One condition per bit, so that PostgreSQL stops at the first zero bit.
    const bits = keys.flatMap(({ first, step }) => {
      const at = values.push(first, step);
      return Array.from(
        { length: hashes },
        (_, i) =>
          `AND get_bit(filter, ($${at - 1}::bigint + ${i} * $${at}::bigint) % (8 * octet_length(filter))) = 1`,
      );
    });
    const rows = await this.dataSource.query<ChunkRow[]>(
      `SELECT stream, stream_created, first_sequence, last_sequence, first_stored_at, last_stored_at, oldest_event_at
       FROM audit_chunks
       WHERE (stream, stream_created) IN (SELECT * FROM unnest($1::text[], $2::text[]))
         AND last_stored_at >= $3 AND first_stored_at <= $4 AND oldest_event_at < $5 ${bits.join(' ')}
       ORDER BY ${isForward ? 'last_stored_at DESC, stream, last_sequence DESC' : 'first_stored_at, stream, last_sequence'}
       LIMIT $6`,
      values,
    );
    return rows.map((row) => ({
      stream: row.stream,
      streamCreated: row.stream_created,
      first: Number(row.first_sequence),
      last: Number(row.last_sequence),
      firstStoredAt: row.first_stored_at,
      lastStoredAt: row.last_stored_at,
      oldestEventAt: row.oldest_event_at,
    }));
  }

  counts(clientId: string, since: Date, unit: 'hour' | 'day'): Promise<EventCount[]> {
    return this.dataSource.query<EventCount[]>(
      `SELECT date_trunc($3, hour, 'UTC') AS start, type, "check", error, sum(count)::integer AS count,
              min(first_at) AS first, max(last_at) AS last,
              (array_agg(reference ORDER BY last_at DESC) FILTER (WHERE reference IS NOT NULL))[1] AS reference
       FROM audit_counts WHERE client_id = $1 AND hour >= $2 GROUP BY 1, 2, 3, 4`,
      [clientId, since, unit],
    );
  }

  /** Counts the refusals of all clients by cause. @param since start of an hour of the last days */
  refusals(since: Date): Promise<Omit<EventCount, 'start'>[]> {
    return this.dataSource.query(
      `SELECT type, "check", error, sum(count)::integer AS count, min(first_at) AS first, max(last_at) AS last,
              (array_agg(reference ORDER BY last_at DESC) FILTER (WHERE reference IS NOT NULL))[1] AS reference
       FROM audit_counts WHERE hour >= $1 AND ("check" <> '' OR error <> '') GROUP BY 1, 2, 3`,
      [since],
    );
  }

  /** Returns the clients with the most refusals. @param since start of an hour of the last days */
  mostRefused(since: Date, limit: number): Promise<{ readonly clientId: string; readonly count: number }[]> {
    return this.dataSource.query(
      `SELECT client_id AS "clientId", sum(count)::integer AS count
       FROM audit_counts WHERE hour >= $1 AND ("check" <> '' OR error <> '')
       GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $2`,
      [since, limit],
    );
  }

  /** Deletes what the index has of events that are no longer in the trail, and refused requests older than a month. */
  async prune(
    streams: readonly { readonly stream: string; readonly created: string; readonly firstSequence: number }[],
    before: Date,
  ): Promise<void> {
    for (const { stream, created, firstSequence } of streams)
      // Keeps the last chunk, which records how far the stream is indexed.
      await this.dataSource.query(
        `DELETE FROM audit_chunks WHERE stream = $1 AND (stream_created <> $2 OR last_sequence < least($3,
           (SELECT max(last_sequence) FROM audit_chunks WHERE stream = $1 AND stream_created = $2)))`,
        [stream, created, firstSequence],
      );
    for (const [table, old] of [
      ['audit_counts', 'hour < $1'],
      ['refused_requests', `at < greatest($1, now() - interval '${REFUSED_DAYS} days')`],
    ] as const)
      await this.repeat(`done AS (DELETE FROM ${table} WHERE ${some(old, table)} RETURNING 1)`, before);
  }

  /** Merges hourly rows before `before` into one row per day, at its first hour, because most rows are old. */
  compact(before: Date): Promise<void> {
    return this.repeat(
      `old AS (DELETE FROM audit_counts WHERE ${some(`hour < $1 AND ${IS_LATER_HOUR}`)} RETURNING *),
       done AS (INSERT INTO audit_counts AS known (${COLUMNS})
       SELECT client_id, date_trunc('day', hour, 'UTC'), type, "check", error, sum(count), min(first_at), max(last_at),
              (array_agg(reference ORDER BY last_at DESC) FILTER (WHERE reference IS NOT NULL))[1]
       FROM old GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ${ADD} RETURNING 1)`,
      before,
    );
  }

  /**
   * Repeats a statement that changes one batch of rows until no row is left. Batches keep each statement within the
   * statement timeout.
   */
  private async repeat(tables: string, before: Date): Promise<void> {
    for (let rows = -1; rows !== 0;) {
      const changed = await this.dataSource.query<unknown[]>(`WITH ${tables} SELECT 1 FROM done LIMIT 1`, [
        before,
      ]);
      rows = changed.length;
    }
  }
}

const COLUMNS = 'client_id, hour, type, "check", error, count, first_at, last_at, reference';

const IS_LATER_HOUR = "(hour AT TIME ZONE 'UTC')::time <> '00:00'";

const some = (condition: string, table = 'audit_counts') =>
  `ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT 10000))`;

const ADD = `ON CONFLICT (client_id, hour, type, "check", error) DO UPDATE
       SET count = known.count + excluded.count,
           first_at = least(known.first_at, excluded.first_at),
           last_at = greatest(known.last_at, excluded.last_at),
           reference = CASE WHEN excluded.last_at >= known.last_at THEN coalesce(excluded.reference, known.reference)
                            ELSE coalesce(known.reference, excluded.reference) END`;

interface ChunkRow {
  readonly stream: string;
  readonly stream_created: string;
  readonly first_sequence: string;
  readonly last_sequence: string;
  readonly first_stored_at: Date;
  readonly last_stored_at: Date;
  readonly oldest_event_at: Date;
}

/** Counts only events of registered clients, because anyone can send any client_id. */
async function addCounts(manager: EntityManager, counts: readonly NewCount[]): Promise<void> {
  await manager.query(
    `INSERT INTO audit_counts AS known (${COLUMNS})
     SELECT c.client_id, sent.start, sent.type, sent."check", sent.error, sum(sent.count),
            min(sent.first), max(sent.last),
            (array_agg(sent.reference ORDER BY sent.last DESC) FILTER (WHERE sent.reference IS NOT NULL))[1]
     FROM json_to_recordset($1::json) AS sent ("clientId" text, "grantId" text, start timestamptz, type text, "check" text,
            error text, count integer, first timestamptz, last timestamptz, reference text)
       LEFT JOIN grants g ON sent."clientId" IS NULL AND g.id = sent."grantId"
       JOIN clients c ON c.client_id = coalesce(sent."clientId", g.client_id)
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ${ADD}`,
    [JSON.stringify(counts)],
  );
}
