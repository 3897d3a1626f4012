import { Column, CreateDateColumn, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { RevocationCause } from '#oauth/revocation-cause.js';

/** Refers to users and clients by the names of their tables, because their libraries are above this one. */
@Entity('grants')
@Index('grants_client', ['clientId', 'createdAt', 'revokedAt'])
@Index('grants_user', ['userId', 'expiresAt'])
@Index('grants_user_client', ['userId', 'clientId', 'createdAt', 'revokedAt'])
@Index('grants_newest', ['createdAt'], { where: 'revoked_at IS NULL' })
@Index('grants_session', ['session'], { where: 'session IS NOT NULL' })
@Index('grants_unredeemed', ['createdAt'], {
  where: 'last_used_on IS NULL AND revoked_at IS NULL AND expires_at > created_at',
})
@Index('grants_revocation_outstanding', ['revokedAt', 'id'], {
  where: 'revoked_at IS NOT NULL AND revocation_applied_at IS NULL',
})
@Index('grants_revocation_applied', ['revocationAppliedAt', 'id'], {
  where: 'revocation_applied_at IS NOT NULL',
})
export class GrantRecordEntity {
  @PrimaryColumn({ type: 'text' }) id: string;
  @Column({ name: 'user_id', type: 'integer' }) userId: number;

  /** Null after the user's deletion. Not a foreign key, because a revocation needs the record after the deletion. */
  @ManyToOne('users', { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'user_id' })
  user: { readonly username: string } | null;

  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  @ManyToOne('clients', { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'grants_client_id_fkey' })
  client: { readonly name: string };

  @Column({ type: 'text' }) scope: string;

  /** Scope that the client requested; the user declined the scopes that are missing from `scope`. */
  @Column({ name: 'requested_scope', type: 'text', select: false }) requestedScope: string;

  /** APIs that the tokens are valid for, space-separated and sorted; empty for every API. */
  @Column({ type: 'text', default: '', select: false }) resources: string;

  /** Time of the login, in seconds since the epoch, for a grant with the scope `openid`. */
  @Column({ name: 'auth_time', type: 'bigint', nullable: true, select: false }) authTime: string | null;
  @Column({ type: 'text', nullable: true, select: false }) session: string | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;

  /** Interval for which the grant stays valid after its creation and after each use. */
  @Column({ type: 'interval', select: false }) lifetime: unknown;
  @Column({ name: 'expires_at', type: 'timestamptz' }) expiresAt: Date;
  /** Time at which the grant ends, whatever its use; null without an end. */
  @Column({ name: 'ends_at', type: 'timestamptz', nullable: true, select: false }) endsAt: Date | null;
  @Column({ name: 'last_used_on', type: 'date', nullable: true }) lastUsedOn: string | null;
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true }) revokedAt: Date | null;

  @Column({ name: 'revoked_for', type: 'text', nullable: true, select: false })
  revokedFor: RevocationCause | null;

  /** Time at which Redis and every cache last received the revocation; null until then. */
  @Column({ name: 'revocation_applied_at', type: 'timestamptz', nullable: true, select: false })
  revocationAppliedAt: Date | null;
}

/** Usage of a day in UTC, for the overview of the console. */
@Entity('usage_days')
export class UsageDayEntity {
  /** YYYY-MM-DD */
  @PrimaryColumn({ type: 'date' }) day: string;
  @Column({ name: 'live_grants', type: 'integer' }) liveGrants: number;

  /** Number of clients that got or refreshed a token on this day. */
  @Column({ name: 'active_clients', type: 'integer' }) activeClients: number;
  @Column({ name: 'counted_at', type: 'timestamptz' }) countedAt: Date;
}
