import {
  Column,
  CreateDateColumn,
  Entity,
  Generated,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import type { EventType, RequestableEvent } from './event-type.js';

/** `logout` posts logout tokens to the client's `backchannel_logout_uri`. */
export type Delivery = 'push' | 'poll' | 'logout';
/** Reason of a status that an operator set. */
export const BY_OPERATOR = 'by the operator';

export const STREAM_STATUSES = ['enabled', 'paused', 'disabled'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

/**
 * Stream of one client (section 8.1.1 of the Shared Signals Framework), or its logout tokens. Refers to clients by the
 * name of their table.
 */
@Entity('event_streams')
@Index('event_streams_client', ['clientId'], { unique: true, where: "delivery <> 'logout'" })
@Index('event_streams_logout', ['clientId'], { unique: true, where: "delivery = 'logout'" })
@Index('event_streams_owned', ['clientId'])
export class EventStreamEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  @ManyToOne('clients', { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'event_streams_client_id_fkey' })
  client?: unknown;

  @Column({ type: 'text' }) delivery: Delivery;
  @Column({ name: 'endpoint_url', type: 'text', nullable: true }) endpointUrl: string | null;

  /** Encrypted value of the header Authorization. Not selected by default, because only the token app may read it. */
  @Column({ name: 'authorization_header', type: 'bytea', nullable: true, select: false })
  authorizationHeader: Buffer | null;
  @Column({ name: 'events_requested', type: 'text', array: true })
  eventsRequested: readonly RequestableEvent[];
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text', default: 'enabled' }) status: StreamStatus;
  @Column({ name: 'status_reason', type: 'text', nullable: true }) statusReason: string | null;

  /** Time of the first of consecutive failed pushes; null after a success. */
  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true }) failingSince: Date | null;
  @Column({ type: 'integer', default: 0 }) failures: number;
  /** True if the receiver took long for its latest answer. */
  @Column({ type: 'boolean', default: false }) slow: boolean;
  @Column({ name: 'due_at', type: 'timestamptz', default: () => 'now()' }) dueAt: Date;
  @Column({ name: 'leased_until', type: 'timestamptz', default: '-infinity' }) leasedUntil: Date;
  @Column({ name: 'verified_at', type: 'timestamptz', default: '-infinity' }) verifiedAt: Date;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
}

@Entity('event_stream_subjects')
export class ExcludedSubjectEntity {
  @PrimaryColumn({ name: 'stream_id', type: 'uuid' }) streamId: string;

  @ManyToOne(() => EventStreamEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'stream_id', foreignKeyConstraintName: 'event_stream_subjects_stream_id_fkey' })
  stream?: Relation<EventStreamEntity>;

  @PrimaryColumn({ type: 'text' }) subject: string;
}

/** An event for one stream: waiting, then finished. */
@Entity('events')
@Index('events_outstanding', ['streamId', 'id'], { where: 'outcome IS NULL' })
@Index('events_about_client', ['streamId'], { where: 'outcome IS NULL AND user_id IS NULL' })
@Index('events_stream', ['streamId', 'id'])
@Index('events_jti', ['jti'], { unique: true })
@Index('events_age', ['createdAt'])
export class EventEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ name: 'stream_id', type: 'uuid' }) streamId: string;

  @ManyToOne(() => EventStreamEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'stream_id', foreignKeyConstraintName: 'events_stream_id_fkey' })
  stream?: Relation<EventStreamEntity>;

  @Generated('uuid') @Column({ type: 'uuid' }) jti: string;
  @Column({ type: 'text' }) type: EventType;
  /** Null for an event about the client. */
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;
  @Column({ type: 'jsonb', default: {} }) details: Readonly<Record<string, unknown>>;
  @Column({ type: 'uuid' }) txn: string;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ type: 'integer', default: 0 }) attempts: number;
  /** Answer to the latest attempt. */
  @Column({ type: 'text', nullable: true }) answer: string | null;
  @Column({ type: 'text', nullable: true }) outcome: EventOutcome | null;
  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true }) finishedAt: Date | null;
}

/** End of a session, or of all sessions of a user, until the codes of these sessions are void. */
@Entity('ended_sessions')
export class EndedSessionEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ type: 'text', nullable: true }) session: string | null;
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;
  @Column({ name: 'ended_at', type: 'timestamptz', default: () => 'now()' }) endedAt: Date;
}

export type EventOutcome = 'delivered' | 'refused' | 'excluded' | 'expired';
