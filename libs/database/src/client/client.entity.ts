import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { ClientLogoEntity } from './client-logo.entity.js';
import type { ClientSecretEntity } from './client-secret.entity.js';
import type { ClientType } from './client.js';

@Entity('clients')
export class ClientEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' })
  clientId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  type: ClientType;

  @Column({ name: 'redirect_uris', type: 'text', array: true })
  redirectUris: string[];

  @Column({ name: 'require_par', type: 'boolean', default: false })
  requirePar: boolean;

  @Column({ type: 'text', array: true, default: () => `'{profile:read}'` })
  scopes: string[];

  @Column({ name: 'optional_scopes', type: 'text', array: true, default: () => `'{}'` })
  optionalScopes: string[];

  @Column({ name: 'first_party', type: 'boolean', default: false })
  firstParty: boolean;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt: Date | null;

  /** Filled by the store's join, which leaves revoked secrets out. */
  secrets?: ClientSecretEntity[];

  /** Filled by the store's join. */
  logo?: ClientLogoEntity | null;
}
