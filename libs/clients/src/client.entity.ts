import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import type { GrantType } from '#oauth/client-credentials.js';
import type { ClientType } from '#oauth/oauth-client.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import type { ClientJwkSet } from '#oauth/client-assertion/client-keys.js';
import type { ClientStage, LogoMediaType } from './client.js';

@Entity('client_secrets')
@Index('client_secrets_client', ['clientId'])
@Index('client_secrets_expiry', ['expiresAt'], { where: 'revoked_at IS NULL' })
export class ClientSecretEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ name: 'client_id', type: 'text' }) clientId: string;

  @ManyToOne(() => ClientEntity, ({ secrets }) => secrets, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_secrets_client_id_fkey' })
  client?: Relation<ClientEntity>;

  /** Not selected by default, because the console's role of the database may not read it. */
  @Column({ type: 'bytea', select: false }) hash: Buffer;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true }) lastUsedAt: Date | null;

  /** Null for a secret that does not expire. */
  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true }) expiresAt: Date | null;
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true }) revokedAt: Date | null;
}

@Entity('client_logos')
@Index('client_logos_digest', ['digest'])
export class ClientLogoEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;

  @OneToOne(() => ClientEntity, ({ logo }) => logo, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_logos_client_id_fkey' })
  client?: Relation<ClientEntity>;

  /** Hexadecimal SHA-256 of the image; part of the image's URL. */
  @Column({ type: 'text' }) digest: string;
  @Column({ name: 'media_type', type: 'text' }) mediaType: LogoMediaType;

  /** Not selected by default, because most queries need only the digest. */
  @Column({ type: 'bytea', select: false }) image: Buffer;
}

/** Key of the pairwise subjects of a sector (OpenID Connect Core 8.1). */
@Entity('subject_sectors')
export class SubjectSectorEntity {
  @PrimaryColumn({ type: 'text' }) sector: string;
  @Column({ type: 'bytea' }) key: Buffer;
}

@Entity('clients')
@Index('clients_disabled', ['clientId'], { where: 'disabled_at IS NOT NULL' })
@Index('clients_newest', ['createdAt', 'clientId'])
@Index('clients_look_alike', ['nameSkeleton'])
// The migration creates this index, because TypeORM cannot describe indexes of expressions.
@Index('clients_search', { synchronize: false })
export class ClientEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;

  /** Increases when the registration or a secret changes, and when the client is disabled or enabled. */
  @VersionColumn({ type: 'integer', default: 1 }) version: number;
  @Column({ type: 'text' }) name: string;

  /** `skeletonOf` the name, which every writer of the name stores; null for rows written without this code. */
  @Column({ name: 'name_skeleton', type: 'text', nullable: true, select: false })
  nameSkeleton?: string | null;

  @Column({ type: 'text' }) type: ClientType;
  @Column({ name: 'redirect_uris', type: 'text', array: true }) redirectUris: readonly string[];

  @Column({ name: 'private_schemes', type: 'text', array: true, default: () => `'{}'` })
  privateSchemes: readonly string[];

  @Column({ name: 'require_par', type: 'boolean', default: false }) requirePar: boolean;
  @Column({ name: 'require_state', type: 'boolean', default: true }) requireState: boolean;
  @Column({ type: 'text', array: true, default: () => `'{profile:read}'` }) scopes: readonly string[];

  @Column({ name: 'optional_scopes', type: 'text', array: true, default: () => `'{}'` })
  optionalScopes: readonly string[];

  @Column({ name: 'first_party', type: 'boolean', default: false }) firstParty: boolean;
  @Column({ name: 'developer_portal', type: 'boolean', default: false }) developerPortal: boolean;
  @Column({ type: 'text', default: 'live' }) stage: ClientStage;

  @Column({ name: 'id_token_alg', type: 'text', nullable: true }) idTokenAlg: SigningAlgorithm | null;

  /** Host of the redirect URIs; null for public subjects. */
  @Column({ type: 'text', nullable: true }) sector: string | null;

  @ManyToOne(() => SubjectSectorEntity)
  @JoinColumn({ name: 'sector', foreignKeyConstraintName: 'clients_sector_fkey' })
  subjectSector?: SubjectSectorEntity | null;

  @Column({ name: 'post_logout_redirect_uris', type: 'text', array: true, default: () => `'{}'` })
  postLogoutRedirectUris: readonly string[];

  @Column({ name: 'backchannel_logout_uri', type: 'text', nullable: true })
  backchannelLogoutUri: string | null;

  @Column({ name: 'client_uri', type: 'text', nullable: true }) clientUri: string | null;
  @Column({ name: 'policy_uri', type: 'text', nullable: true }) policyUri: string | null;
  @Column({ type: 'text', array: true, default: () => `'{}'` }) contacts: readonly string[];

  /** `json`, not `jsonb`, which would change the order of the members. */
  @Column({ type: 'json', nullable: true }) jwks: ClientJwkSet | null;
  @Column({ name: 'jwks_uri', type: 'text', nullable: true }) jwksUri: string | null;
  @Column({ name: 'dpop_bound', type: 'boolean', default: false }) dpopBound: boolean;
  @Column({ name: 'keeps_refresh_token', type: 'boolean', default: false }) keepsRefreshToken: boolean;
  @Column({ type: 'text', nullable: true }) profile: 'fapi2' | null;
  @Column({ name: 'grant_type', type: 'text', default: 'authorization_code' }) grantType: GrantType;
  @Column({ name: 'device_grant', type: 'boolean', default: false }) deviceGrant: boolean;

  @Column({ name: 'document_due_at', type: 'timestamptz', nullable: true }) documentDueAt: Date | null;

  /** Time of the document's latest change that requires new consent. Earlier consent does not count. */
  @Column({ name: 'document_changed_at', type: 'timestamptz', nullable: true })
  documentChangedAt: Date | null;

  @Column({ name: 'document_problem', type: 'text', nullable: true }) documentProblem: string | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'disabled_at', type: 'timestamptz', nullable: true }) disabledAt: Date | null;

  /** TypeORM excludes deleted clients from every query without `withDeleted`. */
  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' }) deletedAt: Date | null;
  @OneToMany(() => ClientSecretEntity, ({ client }) => client) secrets?: ClientSecretEntity[];
  @OneToOne(() => ClientLogoEntity, ({ client }) => client) logo?: ClientLogoEntity | null;
}
