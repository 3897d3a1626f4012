import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** An API that may introspect tokens over HTTP (RFC 7662 2.1). */
export interface ResourceServer {
  /** `rs_` and 24 lower-case base32 characters: the user name of its HTTP Basic credentials. */
  readonly id: string;
  readonly name: string;
  /** A list as for clients, but always one secret: to replace it, the operator creates a second account. */
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
