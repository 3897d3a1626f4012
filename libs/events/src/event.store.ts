import { Injectable } from '@nestjs/common';
import { Any, DataSource, type FindOptionsWhere, IsNull, Not, type Repository } from 'typeorm';
import type { ListPage, PageRequest } from '#platform/postgres/list-page.js';
import { inOrder, selectPage } from '#platform/postgres/list-page.statements.js';
import type { EventStream } from './event-stream.store.js';
import { type Delivery, EventEntity, type EventOutcome } from './event-stream.entity.js';
import type { EventType } from './event-type.js';

export type StoredEvent = Readonly<EventEntity>;

/** Pattern of a `jti`. */
export const EVENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Without the user and the contents. */
export type OwnedEvent = Pick<
  StoredEvent,
  'id' | 'jti' | 'type' | 'createdAt' | 'attempts' | 'answer' | 'outcome'
>;

export type AdministeredEvent = StoredEvent & { readonly stream: EventStream };

/** Days that an event waits for its receiver, and that a finished event is kept. */
const KEPT_DAYS = 7;
/** Maximum number of outstanding events of a stream. The oldest ones above it expire. */
const MAX_OUTSTANDING = 100_000;
const BATCH = 5_000;

interface Expired {
  readonly delivery: Delivery;
  readonly expired: number;
}

@Injectable()
export class EventStore {
  private readonly events: Repository<EventEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.events = dataSource.getRepository(EventEntity);
  }

  async record(streamId: string, type: EventType, details: object): Promise<void> {
    await this.events.insert({ streamId, type, details, txn: () => 'gen_random_uuid()' });
  }

  /** Oldest first. @param aboutClient true for events about the client only */
  outstanding(streamId: string, limit: number, aboutClient = false): Promise<StoredEvent[]> {
    const where = { streamId, outcome: IsNull(), ...(aboutClient && { userId: IsNull() }) };
    return this.events.find({ where, order: { id: 'ASC' }, take: limit });
  }

  hasOutstanding(streamId: string): Promise<boolean> {
    return this.events.existsBy({ streamId, outcome: IsNull() });
  }

  /** Finishes outstanding events. @returns the number of events that were outstanding */
  async finish(
    streamId: string,
    jtis: readonly string[],
    outcome: EventOutcome,
    answer: string | null,
  ): Promise<number> {
    if (jtis.length === 0) return 0;
    const { affected } = await this.events.update(
      { streamId, jti: Any(jtis), outcome: IsNull() },
      { outcome, answer, attempts: () => 'attempts + 1', finishedAt: () => 'now()' },
    );
    return affected ?? 0;
  }

  /** Finishes outstanding events that the receiver refuses. @returns their ids */
  async refuse(streamId: string, errors: ReadonlyMap<string, string>): Promise<string[]> {
    if (errors.size === 0) return [];
    const rows = await this.dataSource.query<{ jti: string }[]>(
      `WITH refused AS (
         UPDATE events e SET outcome = 'refused', answer = given.err, attempts = attempts + 1, finished_at = now()
         FROM unnest($2::uuid[], $3::text[]) AS given (jti, err)
         WHERE e.stream_id = $1 AND e.jti = given.jti AND e.outcome IS NULL RETURNING e.jti
       )
       SELECT jti FROM refused`,
      [streamId, [...errors.keys()], [...errors.values()]],
    );
    return rows.map(({ jti }) => jti);
  }

  async recordAttempt(jti: string, answer: string): Promise<void> {
    await this.events.update({ jti, outcome: IsNull() }, { answer, attempts: () => 'attempts + 1' });
  }

  async list(
    { clientId, waiting }: { readonly clientId?: string | undefined; readonly waiting: boolean },
    request: PageRequest,
  ): Promise<ListPage<AdministeredEvent>> {
    const query = this.events.createQueryBuilder('event');
    if (clientId !== undefined)
      query.where('event.streamId IN (SELECT id FROM event_streams WHERE client_id = :clientId)', {
        clientId,
      });
    if (waiting) query.andWhere('event.outcome IS NULL');
    const page = await selectPage(query, 'id', request);
    const found = await this.withStream({ id: Any(page.items) });
    return { ...page, items: inOrder(page.items, found, ({ id }) => id) };
  }

  /** Returns the latest events for the client about a grant or a user, newest first. */
  about(
    clientId: string,
    { grantId, userId }: { readonly grantId: string | null; readonly userId: number | null },
    limit: number,
  ): Promise<AdministeredEvent[]> {
    return this.events
      .createQueryBuilder('event')
      .innerJoinAndSelect('event.stream', 'stream')
      .where('stream.clientId = :clientId', { clientId })
      .andWhere("(event.userId = :userId OR event.details ->> 'grant_id' = :grantId)", { userId, grantId })
      .orderBy('event.id', 'DESC')
      .limit(limit)
      .getMany() as Promise<AdministeredEvent[]>;
  }

  async find(jti: string): Promise<AdministeredEvent | null> {
    const [event = null] = await this.withStream({ jti });
    return event;
  }

  private withStream(where: FindOptionsWhere<EventEntity>): Promise<AdministeredEvent[]> {
    return this.events.find({ where, relations: { stream: true } }) as Promise<AdministeredEvent[]>;
  }

  /**
   * Returns the events of streams for an owner, newest first.
   * @param before id of the oldest event of the page before
   */
  ofStreams(streamIds: readonly string[], before: string | null, limit: number): Promise<OwnedEvent[]> {
    return this.dataSource.query<OwnedEvent[]>(
      `SELECT e.* FROM unnest($1::uuid[]) AS s (id), LATERAL (
         SELECT id, jti, type, created_at AS "createdAt", attempts, answer, outcome FROM events
         WHERE stream_id = s.id AND ($2::bigint IS NULL OR events.id < $2) ORDER BY events.id DESC LIMIT $3
       ) e ORDER BY e.id DESC LIMIT $3`,
      [streamIds, before, limit],
    );
  }

  /** Makes a finished event of an own application outstanding again, for the user of the transaction. */
  async redeliverOwned(clientId: string, jti: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      'SELECT redeliver_client_event($1, $2) AS done',
      [clientId, jti],
    );
    return row?.done ?? false;
  }

  /** Makes a finished event outstanding again. @returns false if the event is unknown or outstanding */
  async redeliver(jti: string): Promise<boolean> {
    const { affected } = await this.events.update(
      { jti, outcome: Not(IsNull()) },
      { outcome: null, finishedAt: null },
    );
    return affected === 1;
  }

  /** Expires outstanding events, and deletes finished ones, in batches. @returns numbers of expired events */
  async expire(): Promise<Expired[]> {
    const expired: Expired[] = [];
    for (const { id, last } of await this.crowded())
      expired.push(...(await this.expireWhere('stream_id = $1 AND id <= $2', [id, last])));
    expired.push(...(await this.expireWhere(`created_at < now() - interval '${KEPT_DAYS} days'`, [])));
    for (let deleted = BATCH; deleted >= BATCH;) deleted = await this.deleteFinished();
    return expired;
  }

  /** Returns streams with too many outstanding events, and the newest of the events that must expire. */
  private crowded(): Promise<{ readonly id: string; readonly last: string }[]> {
    return this.dataSource.query(
      `SELECT c.stream_id AS id, (
         SELECT e.id FROM events e WHERE e.stream_id = c.stream_id AND e.outcome IS NULL
         ORDER BY e.id DESC OFFSET ${MAX_OUTSTANDING} LIMIT 1) AS last
       FROM (
         SELECT stream_id FROM events WHERE outcome IS NULL GROUP BY stream_id HAVING count(*) > ${MAX_OUTSTANDING}
       ) c`,
    );
  }

  private async expireWhere(condition: string, values: readonly unknown[]): Promise<Expired[]> {
    const all: Expired[] = [];
    for (;;) {
      const batch = await this.dataSource.query<Expired[]>(
        `WITH due AS (
           SELECT id FROM events WHERE outcome IS NULL AND ${condition} ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
         ), expired AS (
           UPDATE events e SET outcome = 'expired', finished_at = now() FROM due WHERE e.id = due.id RETURNING e.stream_id
         )
         SELECT s.delivery, count(*)::integer AS expired FROM expired JOIN event_streams s ON s.id = stream_id
         GROUP BY s.delivery`,
        [...values],
      );
      all.push(...batch);
      if (batch.reduce((sum, { expired }) => sum + expired, 0) < BATCH) return all;
    }
  }

  private async deleteFinished(): Promise<number> {
    const [row] = await this.dataSource.query<{ deleted: number }[]>(
      `WITH deleted AS (
         DELETE FROM events WHERE id IN (
           SELECT id FROM events WHERE outcome IS NOT NULL AND created_at < now() - interval '${2 * KEPT_DAYS} days'
           ORDER BY created_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
         RETURNING 1
       )
       SELECT count(*)::integer AS deleted FROM deleted`,
    );
    return row?.deleted ?? 0;
  }
}
