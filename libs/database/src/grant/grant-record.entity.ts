import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

@Entity('grants')
export class GrantRecordEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ name: 'user_id', type: 'integer' })
  userId: number;

  @Column({ name: 'client_id', type: 'text' })
  clientId: string;

  @Column({ type: 'text' })
  scope: string;

  /** Scope requested by the client; the user declined whatever is missing from `scope`. */
  @Column({ name: 'requested_scope', type: 'text', select: false })
  requestedScope: string;

  /** APIs that the tokens are valid for, space-separated and sorted; empty for every API. */
  @Column({ type: 'text', default: '', select: false })
  resources: string;

  /** Login of a grant with the scope `openid`, in seconds since the epoch. */
  @Column({ name: 'auth_time', type: 'bigint', nullable: true, select: false })
  authTime: string | null;

  @Column({ type: 'text', nullable: true, select: false })
  session: string | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  /** Lifetime without use. Each use extends `expires_at` by it. */
  @Column({ type: 'interval', select: false })
  lifetime: unknown;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Date;

  @Column({ name: 'last_used_on', type: 'date', nullable: true })
  lastUsedOn: string | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Date | null;

  /** When Redis and every cache received the revocation; null until then. */
  @Column({ name: 'revocation_applied_at', type: 'timestamptz', nullable: true, select: false })
  revocationAppliedAt: Date | null;
}
