import type { ClientJwkSet } from '#oauth/client-assertion/client-keys.js';
import type { ClientKeys } from '#oauth/oauth-client.js';
import { Column, CreateDateColumn, Entity, PrimaryColumn, VersionColumn } from 'typeorm';

/** An API that may introspect tokens over HTTP (RFC 7662 2.1). */
export interface ResourceServer extends ClientKeys {
  /** User name for HTTP Basic: `rs_` and 24 lower-case base32 characters. */
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly createdAt: Date;
}

export interface ResourceServerWithHash extends ResourceServer {
  /** One secret, or none if the API has keys. To replace a secret, the operator creates a second account. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer }[];
}

@Entity('resource_servers')
export class ResourceServerEntity {
  @PrimaryColumn({ type: 'text' }) id: string;
  @VersionColumn({ type: 'integer', default: 1 }) version: number;
  @Column({ type: 'text' }) name: string;

  /** Not selected by default, because only the token app's role of the database may read it. */
  @Column({ name: 'secret_hash', type: 'bytea', nullable: true, select: false }) secretHash: Buffer | null;
  @Column({ type: 'json', nullable: true }) jwks: ClientJwkSet | null;
  @Column({ name: 'jwks_uri', type: 'text', nullable: true }) jwksUri: string | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true }) revokedAt: Date | null;
}
