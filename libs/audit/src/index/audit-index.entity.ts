import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** About 1,000 consecutive events of a stream of the audit trail, or fewer after an hour without enough events. */
@Entity('audit_chunks')
@Index('audit_chunks_first_stored', ['firstStoredAt'])
@Index('audit_chunks_last_stored', ['lastStoredAt'])
export class AuditChunkEntity {
  @PrimaryColumn({ type: 'text' }) stream: string;

  /** Time at which NATS created the stream. A recreated stream starts new sequences. */
  @PrimaryColumn({ name: 'stream_created', type: 'text' }) streamCreated: string;

  /** All events up to the highest `last_sequence` of a stream are indexed and counted. */
  @PrimaryColumn({ name: 'last_sequence', type: 'bigint' }) lastSequence: string;
  @Column({ name: 'first_sequence', type: 'bigint' }) firstSequence: string;
  @Column({ name: 'first_stored_at', type: 'timestamptz' }) firstStoredAt: Date;
  @Column({ name: 'last_stored_at', type: 'timestamptz' }) lastStoredAt: Date;

  /** May be much earlier than `first_stored_at`, because an event may be stored late. */
  @Column({ name: 'oldest_event_at', type: 'timestamptz' }) oldestEventAt: Date;

  /** Bloom filter of the searchable values of the events. */
  @Column({ type: 'bytea' }) filter: Buffer;
}

/** Number of a client's events with the same type and cause, per hour or (for older days) per day. */
@Entity('audit_counts')
@Index('audit_counts_hour', ['hour'])
@Index('audit_counts_refusals', { synchronize: false })
@Index('audit_counts_later_hours', { synchronize: false })
export class AuditCountEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;
  @PrimaryColumn({ type: 'timestamptz' }) hour: Date;
  @PrimaryColumn({ type: 'text' }) type: string;

  /** `check` and `error` are empty if the event is not a refusal. */
  @PrimaryColumn({ type: 'text' }) check: string;
  @PrimaryColumn({ type: 'text' }) error: string;
  @Column({ type: 'integer' }) count: number;
  @Column({ name: 'first_at', type: 'timestamptz' }) firstAt: Date;
  @Column({ name: 'last_at', type: 'timestamptz' }) lastAt: Date;

  /** Latest reference of these events; null if no event has a reference. */
  @Column({ type: 'text', nullable: true }) reference: string | null;
}

/** Refused request, for the owners of the application: without users, IP addresses and values of other clients. */
@Entity('refused_requests')
@Index('refused_requests_event', ['clientId', 'event'], { unique: true })
@Index('refused_requests_client', ['clientId', 'createdAt', 'id'])
@Index('refused_requests_cause', ['clientId', 'cause', 'createdAt', 'id'])
@Index('refused_requests_reference', ['reference', 'clientId'])
@Index('refused_requests_at', ['createdAt'])
export class RefusedRequestEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  /** Service and id of the event. */
  @Column({ type: 'text' }) event: string;
  @Column({ name: 'at', type: 'timestamptz' }) createdAt: Date;

  /** Null if the event has no reference. */
  @Column({ type: 'text', nullable: true }) reference: string | null;

  /** Failed check, or the error of a request without a check. */
  @Column({ type: 'text' }) cause: string;
  @Column({ type: 'text' }) error: string;
  @Column({ type: 'integer', nullable: true }) status: number | null;

  /** Method and path; null for a request over NATS. */
  @Column({ type: 'text', nullable: true }) request: string | null;
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'jsonb' }) detail: Readonly<Record<string, unknown>>;
}
