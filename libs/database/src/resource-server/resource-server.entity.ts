import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** An API that may introspect tokens over HTTP (RFC 7662 2.1). */
export interface ResourceServer {
  /** User name for HTTP Basic: `rs_` and 24 lower-case base32 characters. */
  readonly id: string;
  readonly name: string;
  /** Exactly one. To replace it, the operator creates a second account. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer }[];
  readonly createdAt: Date;
}

@Entity('resource_servers')
export class ResourceServerEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'secret_hash', type: 'bytea' })
  secretHash: Buffer;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Date | null;
}
