import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { UserEntity } from '#users/user.entity.js';
import { ClientEntity } from '../client.entity.js';

export type MemberKind = 'owner' | 'tester';

@Entity('client_owners')
@Index('client_owners_user', ['userId'])
export class ClientOwnerEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;
  @PrimaryColumn({ name: 'user_id', type: 'integer' }) userId: number;

  @ManyToOne(() => ClientEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_owners_client_id_fkey' })
  client?: Relation<ClientEntity>;

  @ManyToOne(() => UserEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'client_owners_user_id_fkey' })
  user?: Relation<UserEntity>;

  @CreateDateColumn({ name: 'added_at', type: 'timestamptz' }) addedAt: Date;
}

/** User who accepted to test an application before it is live. */
@Entity('client_testers')
@Index('client_testers_user', ['userId'])
export class ClientTesterEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;
  @PrimaryColumn({ name: 'user_id', type: 'integer' }) userId: number;

  @ManyToOne(() => ClientEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_testers_client_id_fkey' })
  client?: Relation<ClientEntity>;

  @ManyToOne(() => UserEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'client_testers_user_id_fkey' })
  user?: Relation<UserEntity>;

  @CreateDateColumn({ name: 'accepted_at', type: 'timestamptz' }) acceptedAt: Date;
}

/** Whoever has the link of an invitation may accept it, once. */
@Entity('client_invitations')
@Index('client_invitations_client', ['clientId'])
@Index('client_invitations_user', ['invitedBy'])
export class ClientInvitationEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  @ManyToOne(() => ClientEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_invitations_client_id_fkey' })
  client?: Relation<ClientEntity>;

  @Column({ type: 'text' }) kind: MemberKind;

  /** SHA-256 of the token in the link. The role of the portal in the database may not read it. */
  @Column({ name: 'token_hash', type: 'bytea', unique: true, select: false }) tokenHash: Buffer;
  @Column({ name: 'invited_by', type: 'integer' }) invitedBy: number;

  @ManyToOne(() => UserEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'invited_by', foreignKeyConstraintName: 'client_invitations_invited_by_fkey' })
  inviter?: Relation<UserEntity>;

  /** Address to which the link is sent; null if the inviter hands the link over. */
  @Column({ type: 'text', nullable: true }) email: string | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'expires_at', type: 'timestamptz' }) expiresAt: Date;
}

/** Change of an application, recorded by triggers in the transaction of the change. */
@Entity('client_history')
@Index('client_history_client', ['clientId', 'id'])
export class ClientHistoryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  @ManyToOne(() => ClientEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_history_client_id_fkey' })
  client?: Relation<ClientEntity>;

  @CreateDateColumn({ type: 'timestamptz' }) at: Date;

  /** Owner who made the change; null if an operator or the service made it. */
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;
  @Column({ type: 'text', nullable: true }) operator: string | null;

  /** `created`, `updated`, or a table with `_added` or `_removed`, like `client_owners_added`. */
  @Column({ type: 'text' }) action: string;

  /** Old and new values by column for `created` and `updated`; otherwise the row, without secret values. */
  @Column({ type: 'jsonb', default: {} }) changes: Readonly<Record<string, unknown>>;
}
