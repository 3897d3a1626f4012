import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, Raw, type Repository } from 'typeorm';
import { backoff } from '#platform/postgres/backoff.statement.js';
import { violatedConstraint } from '#platform/postgres/postgres-errors.js';
import { type RequestableEvent, REQUESTABLE_EVENTS } from './event-type.js';
import { EventStreamEntity, ExcludedSubjectEntity, type StreamStatus } from './event-stream.entity.js';

export type EventStream = Readonly<EventStreamEntity>;

/** Configuration that the client chooses (section 8.1.1 of the Shared Signals Framework 1.0). */
export type StreamSettings = { readonly delivery: 'push' | 'poll' } & Pick<
  EventStream,
  'endpointUrl' | 'authorizationHeader' | 'eventsRequested' | 'description'
>;
type StreamState = Pick<EventStream, 'status' | 'statusReason'>;

/** Right of one process to push the events of a stream. Another process continues after the end of the lease. */
export interface Lease {
  readonly id: string;
  readonly clientId: string;
  readonly isLogout: boolean;
  readonly isSlow: boolean;
  /** In milliseconds, like `Date`. No other lease of the stream has the same end. */
  readonly until: Date;
}

type HeldStream = EventStream & { readonly isDisabled: boolean; readonly isExcluded: boolean };

export interface FailedAttempt {
  readonly endpointUrl: string | null;
  /** True if the receiver has accepted another event since the lease began. */
  readonly isFirst: boolean;
  readonly isSlow: boolean;
}

const TRIED_NOW = { failingSince: null, failures: 0, dueAt: () => 'now()' };

/** Maximum number of subjects that a client may remove from its stream. */
const MAX_EXCLUDED = 10_000;

/** Receivers that fail for this time are paused. */
const PAUSE_AFTER = "interval '1 day'";
export const PAUSED_BECAUSE_UNREACHABLE = 'the receiver has failed for a day';

@Injectable()
export class EventStreamStore {
  private readonly streams: Repository<EventStreamEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.streams = dataSource.getRepository(EventStreamEntity);
  }

  /** Returns the client's stream of security events. */
  ofClient(clientId: string): Promise<EventStream | null> {
    return this.streams.findOneBy({ clientId, delivery: Not('logout') });
  }

  /** Returns the deliveries of logout tokens to the client. */
  logoutsOf(clientId: string): Promise<EventStream | null> {
    return this.streams.findOneBy({ clientId, delivery: 'logout' });
  }

  /** Returns streams of security events that are paused, or whose latest push failed; oldest failure first. */
  failing(limit: number): Promise<EventStream[]> {
    const delivery = Not('logout' as const);
    return this.streams.find({
      where: [
        { status: 'paused', delivery },
        { failingSince: Not(IsNull()), status: 'enabled', delivery },
      ],
      order: { failingSince: { direction: 'ASC', nulls: 'LAST' }, clientId: 'ASC' },
      take: limit,
    });
  }

  /** @returns null if the client has a stream */
  async create(clientId: string, settings: StreamSettings): Promise<EventStream | null> {
    try {
      const { identifiers } = await this.streams.insert({ clientId, ...settings });
      return await this.find(identifiers[0]?.['id'] as string);
    } catch (error) {
      if (violatedConstraint(error) === 'event_streams_client') return null;
      throw error;
    }
  }

  /** Ends a pause that no operator made, for the user of the transaction. @returns false if there is none */
  async enableOwned(clientId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      'SELECT enable_client_stream($1) AS done',
      [clientId],
    );
    return row?.done ?? false;
  }

  countPaused(): Promise<number> {
    return this.streams.countBy({ status: 'paused', statusReason: PAUSED_BECAUSE_UNREACHABLE });
  }

  /** Counts the streams whose latest attempt failed, without paused ones. */
  countFailing(): Promise<number> {
    return this.streams.countBy({ status: 'enabled', failingSince: Not(IsNull()) });
  }

  /** Keeps absent members, and tries the receiver immediately. */
  async update(id: string, change: Partial<StreamSettings & StreamState>): Promise<EventStream | null> {
    await this.streams.update({ id }, { ...change, ...TRIED_NOW });
    return this.find(id);
  }

  /**
   * Registers a receiver for pushes, or changes the receiver, which is then tried immediately. Does not read the header,
   * which only the token app may read.
   * @param events undefined for every event, or for the events that the stream has
   * @param header undefined keeps the header if the URL stays, because another receiver must not get it
   */
  async register(
    clientId: string,
    endpointUrl: string,
    events?: readonly RequestableEvent[],
    header?: Buffer | null,
  ): Promise<void> {
    await this.dataSource.query(
      `WITH same AS (
         UPDATE event_streams
         SET events_requested = coalesce($3, events_requested), failing_since = NULL, failures = 0, due_at = now()
         WHERE client_id = $1 AND delivery = 'push' AND endpoint_url = $2 AND $6 RETURNING id
       )
       INSERT INTO event_streams AS s (client_id, delivery, endpoint_url, events_requested, authorization_header)
       SELECT $1, 'push', $2, coalesce($3, $4::text[]), $5::bytea WHERE NOT EXISTS (SELECT FROM same)
       ON CONFLICT (client_id) WHERE delivery <> 'logout' DO UPDATE
       SET delivery = 'push', endpoint_url = excluded.endpoint_url, events_requested = coalesce($3, s.events_requested),
           authorization_header = $5, failing_since = NULL, failures = 0, due_at = now()`,
      [clientId, endpointUrl, events ?? null, REQUESTABLE_EVENTS, header ?? null, header === undefined],
    );
  }

  /**
   * Sets the status of the stream and of the logout tokens. Records the event by which the receiver of the stream
   * learns of it (section 8.1.5), if the status changes.
   */
  async announceStatus(clientId: string, status: StreamStatus, reason: string): Promise<void> {
    await this.dataSource.query(
      `WITH changed AS (
         UPDATE event_streams
         SET status = $2, status_reason = $3, failing_since = NULL, failures = 0, due_at = now()
         WHERE client_id = $1 AND status <> $2 RETURNING id, delivery
       )
       INSERT INTO events (stream_id, type, details, txn)
       SELECT id, 'stream-updated', jsonb_build_object('status', $2::text, 'reason', $3::text), gen_random_uuid()
       FROM changed WHERE delivery <> 'logout'`,
      [clientId, status, reason],
    );
  }

  async delete(id: string): Promise<boolean> {
    return (await this.streams.delete({ id })).affected === 1;
  }

  /** @returns false if the client has removed MAX_EXCLUDED subjects */
  async exclude(streamId: string, subject: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH stream AS (SELECT id FROM event_streams WHERE id = $1 FOR NO KEY UPDATE)
       INSERT INTO event_stream_subjects (stream_id, subject)
       SELECT id, $2 FROM stream
       WHERE (SELECT count(*) FROM event_stream_subjects WHERE stream_id = $1) < ${MAX_EXCLUDED}
       ON CONFLICT (stream_id, subject) DO UPDATE SET subject = excluded.subject RETURNING 1`,
      [streamId, subject],
    );
    return rows.length > 0;
  }

  async include(streamId: string, subject: string): Promise<void> {
    await this.dataSource.getRepository(ExcludedSubjectEntity).delete({ streamId, subject });
  }

  /** Returns the removed subjects among these subjects. */
  async excluded(streamId: string, subjects: readonly string[]): Promise<ReadonlySet<string>> {
    if (subjects.length === 0) return new Set();
    const rows = await this.dataSource.query<{ subject: string }[]>(
      'SELECT subject FROM event_stream_subjects WHERE stream_id = $1 AND subject = ANY ($2)',
      [streamId, subjects],
    );
    return new Set(rows.map(({ subject }) => subject));
  }

  /** @returns false if the client has requested a verification in the last `seconds` */
  async takeVerification(id: string, seconds: number): Promise<boolean> {
    const verifiedAt = Raw((at) => `${at} < now() - make_interval(secs => :seconds)`, { seconds });
    const { affected } = await this.streams.update({ id, verifiedAt }, { verifiedAt: () => 'now()' });
    return affected === 1;
  }

  /** Leases streams with events to send, so that one process at a time sends the events of a stream, in order. */
  leaseDue(limit: number, seconds: number, isSlow: boolean): Promise<Lease[]> {
    return this.dataSource.query(
      `WITH leased AS (
         UPDATE event_streams SET leased_until = date_trunc('milliseconds', now()) + make_interval(secs => $2)
         WHERE id IN (
           SELECT s.id FROM event_streams s JOIN clients c ON c.client_id = s.client_id
           WHERE s.delivery <> 'poll' AND s.status = 'enabled' AND s.due_at <= now() AND s.leased_until < now()
             AND s.slow = $3 AND EXISTS (SELECT FROM events e WHERE e.stream_id = s.id AND e.outcome IS NULL)
             AND (c.disabled_at IS NULL OR s.delivery = 'logout' OR EXISTS (
               SELECT FROM events e WHERE e.stream_id = s.id AND e.outcome IS NULL AND e.user_id IS NULL))
           ORDER BY s.due_at LIMIT $1 FOR NO KEY UPDATE OF s SKIP LOCKED
         )
         RETURNING id, client_id, delivery, slow, leased_until
       )
       SELECT id, client_id AS "clientId", delivery = 'logout' AS "isLogout", slow AS "isSlow", leased_until AS until
       FROM leased`,
      [limit, seconds, isSlow],
    );
  }

  /**
   * Reads what may have changed since the lease began.
   * @param subject subject of the next event; null for an event about the client
   * @returns null if the lease has ended, or if the stream no longer pushes
   */
  async held({ id, until }: Lease, subject: string | null): Promise<HeldStream | null> {
    const { entities, raw } = await this.streams
      .createQueryBuilder('stream')
      .innerJoin('stream.client', 'client')
      .addSelect('stream.authorizationHeader')
      .addSelect('client.disabledAt IS NOT NULL', 'disabled')
      .addSelect(
        'EXISTS (SELECT FROM event_stream_subjects WHERE stream_id = stream.id AND subject = :subject)',
        'excluded',
      )
      .where({ id, leasedUntil: until, status: 'enabled', delivery: Not('poll') })
      .andWhere('stream.leasedUntil > now()')
      .setParameters({ subject })
      .getRawAndEntities<{ disabled: boolean; excluded: boolean }>();
    const [stream, row] = [entities[0], raw[0]];
    return stream && row
      ? Object.assign(stream, { isDisabled: row.disabled, isExcluded: row.excluded })
      : null;
  }

  private find(id: string): Promise<EventStream | null> {
    return this.streams.findOneBy({ id });
  }

  /**
   * Ends a lease that has not ended.
   * @param isSlow of the receiver's latest answer; null without an answer
   * @param dueInS seconds before another lease
   */
  async release({ id, until }: Lease, isSlow: boolean | null, dueInS = 0): Promise<void> {
    await this.streams.update(
      { id, leasedUntil: until },
      {
        leasedUntil: () => "'-infinity'",
        dueAt: () => `now() + ${dueInS} * interval '1 second'`,
        ...(isSlow !== null && { slow: isSlow, failingSince: null, failures: 0 }),
      },
    );
  }

  /**
   * Ends a lease after a failed attempt. Counts the failure if the receiver is still the same.
   * @returns true if the receiver has failed for a day, and is paused now
   */
  async releaseFailed(lease: Lease, { endpointUrl, isFirst, isSlow }: FailedAttempt): Promise<boolean> {
    const [row] = await this.dataSource.query<{ paused: boolean }[]>(
      `WITH failed AS (
         SELECT id, since, failures, since < now() - ${PAUSE_AFTER} AND status = 'enabled' AS paused
         FROM (
           SELECT id, status, CASE WHEN $5 THEN now() ELSE coalesce(failing_since, now()) END AS since,
                  CASE WHEN $5 THEN 1 ELSE failures + 1 END AS failures
           FROM event_streams WHERE id = $1 AND leased_until = $2 AND endpoint_url = $3 FOR NO KEY UPDATE
         ) held
       ), released AS (
         UPDATE event_streams s
         SET leased_until = '-infinity', slow = $6, failing_since = failed.since, failures = failed.failures,
             due_at = now() + ${backoff('failed.failures')},
             status = CASE WHEN failed.paused THEN 'paused' ELSE s.status END,
             status_reason = CASE WHEN failed.paused THEN $4 ELSE s.status_reason END
         FROM failed WHERE s.id = failed.id
       )
       SELECT paused FROM failed`,
      [lease.id, lease.until, endpointUrl, PAUSED_BECAUSE_UNREACHABLE, isFirst, isSlow],
    );
    if (!row) await this.release(lease, null);
    return row?.paused ?? false;
  }
}
