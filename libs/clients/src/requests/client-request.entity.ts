import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { UserEntity } from '#users/user.entity.js';
import { ClientEntity } from '../client.entity.js';

export type RequestKind = 'registration' | 'change';

/** `question`: the operator waits for the owner's answer. */
export type RequestStatus = 'draft' | 'submitted' | 'question' | 'approved' | 'rejected' | 'withdrawn';

/** Request of an owner, which an operator reviews. */
@Entity('client_requests')
@Index('client_requests_client', ['clientId'])
@Index('client_requests_open', ['clientId'], { unique: true, where: "status IN ('submitted', 'question')" })
@Index('client_requests_queue', ['submittedAt', 'id'], { where: "status IN ('submitted', 'question')" })
@Index('client_requests_user', ['userId'])
export class ClientRequestEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @VersionColumn({ type: 'integer', default: 1 }) version: number;

  /** Null for a registration that was not submitted yet. */
  @Column({ name: 'client_id', type: 'text', nullable: true }) clientId: string | null;

  @ManyToOne(() => ClientEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_requests_client_id_fkey' })
  client?: Relation<ClientEntity> | null;

  /** Null if the user was deleted. */
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;

  @ManyToOne(() => UserEntity, { onDelete: 'SET NULL' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'client_requests_user_id_fkey' })
  user?: Relation<UserEntity> | null;

  @Column({ type: 'text' }) kind: RequestKind;
  @Column({ type: 'text' }) status: RequestStatus;

  /** `RequestContent`, which may be incomplete and invalid in a draft. */
  @Column({ type: 'jsonb' }) content: object;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'submitted_at', type: 'timestamptz', nullable: true }) submittedAt: Date | null;
  @Column({ name: 'decided_at', type: 'timestamptz', nullable: true }) decidedAt: Date | null;
}

@Entity('client_request_messages')
@Index('client_request_messages_request', ['requestId', 'id'])
export class ClientRequestMessageEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ name: 'request_id', type: 'uuid' }) requestId: string;

  @ManyToOne(() => ClientRequestEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'request_id', foreignKeyConstraintName: 'client_request_messages_request_id_fkey' })
  request?: Relation<ClientRequestEntity>;

  @CreateDateColumn({ type: 'timestamptz' }) at: Date;
  @Column({ type: 'text' }) author: 'owner' | 'operator';
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text' }) text: string;
}
