import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { ClientEntity, ClientLogoEntity, ClientSecretEntity } from './client.entity.js';
import { ensureSector, lockClient, writeClientLogo } from './client.statements.js';
import { revokeOwned } from '#grants/records/grant-record.statements.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import type { ClientFlags } from './client-flags.js';
import type { ClientCondition, ClientLinks, ClientLogo, LogoutUris, TokenRules } from './client.js';
import type { ClientKeys, ClientType } from '#oauth/oauth-client.js';

export interface ClientRegistration extends ClientFlags, ClientLinks, ClientKeys, LogoutUris, TokenRules {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly privateSchemes: readonly string[];
  readonly scopes: readonly string[];
  readonly optionalScopes: readonly string[];
  readonly idTokenAlg: SigningAlgorithm | null;
  readonly sector: string | null;
}

/** A null `logo` removes the logo, an undefined `logo` keeps it. */
export type ChangedRegistration = ClientRegistration & { readonly logo?: ClientLogo | null };

/** Registration with the digest of the logo. */
type StoredRegistration = ClientRegistration & { readonly logo: string | null };

export interface RegistrationUpdate {
  readonly before: StoredRegistration;
  readonly after: StoredRegistration;
}

export interface Deletion {
  /** False if the client was already deleted. */
  readonly first: boolean;
  readonly revokedGrants: number;
}

/** Changes and deletes registered clients. `ClientStore` finds and creates clients. */
@Injectable()
export class ClientRegistrationStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Serializes concurrent changes; writes nothing if `change` throws.
   * @returns null if the client is unknown or deleted
   * @throws OutdatedVersionError
   */
  async update(
    clientId: string,
    change: (
      current: ClientRegistration,
      existing: { type: ClientType; hasSecrets: boolean; hasDocument: boolean },
    ) => ChangedRegistration,
    condition?: ClientCondition,
  ): Promise<RegistrationUpdate | null> {
    return this.dataSource.transaction(async (manager) => {
      const current = await lockClient(manager, clientId, condition);
      if (!current) return null;
      const hasSecrets = await manager.existsBy(ClientSecretEntity, { clientId, revokedAt: IsNull() });
      const existing = { type: current.type, hasSecrets, hasDocument: current.documentDueAt !== null };
      const registration = registrationOf(current);
      const before = (await manager.findOneBy(ClientLogoEntity, { clientId }))?.digest ?? null;
      const { logo, ...changed } = change(registration, existing);
      if (changed.sector !== null && changed.sector !== current.sector)
        await ensureSector(manager, changed.sector);
      await manager.update(ClientEntity, { clientId }, changed);
      const digest = logo ? await writeClientLogo(manager, clientId, logo) : logo;
      if (logo === null) await manager.delete(ClientLogoEntity, { clientId });
      return {
        before: { ...registration, logo: before },
        after: { ...changed, logo: digest === undefined ? before : digest },
      };
    });
  }

  /**
   * Disables or enables a client; secrets and grants stay. Waits for a grant that is being recorded. New grants are
   * rejected while the client is disabled.
   * @returns false if nothing changed; null if the client is unknown or deleted
   * @throws OutdatedVersionError
   */
  async setDisabled(
    clientId: string,
    disabled: boolean,
    condition?: ClientCondition,
  ): Promise<boolean | null> {
    return this.dataSource.transaction(async (manager) => {
      const client = await lockClient(manager, clientId, condition);
      if (!client) return null;
      if ((client.disabledAt !== null) === disabled) return false;
      await manager.update(ClientEntity, { clientId }, { disabledAt: disabled ? () => 'now()' : null });
      return true;
    });
  }

  /**
   * Revokes secrets and grants, and deletes the logo. Disables a client with `client_credentials`, because its tokens
   * have no recorded grant that could be revoked. Idempotent: a second call completes an interrupted call.
   * @returns null if the client never existed
   * @throws OutdatedVersionError
   */
  async delete(clientId: string, condition?: ClientCondition): Promise<Deletion | null> {
    const first = await this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId, condition);
      await manager.update(
        ClientEntity,
        { clientId, grantType: 'client_credentials', disabledAt: IsNull() },
        { disabledAt: () => 'now()' },
      );
      const { affected } = await manager.softDelete(ClientEntity, { clientId });
      if (affected !== 1 && !(await manager.exists(ClientEntity, { where: { clientId }, withDeleted: true })))
        return null;
      await manager.update(
        ClientSecretEntity,
        { clientId, revokedAt: IsNull() },
        { revokedAt: () => 'now()' },
      );
      await manager.delete(ClientLogoEntity, { clientId });
      return affected === 1;
    });
    if (first === null) return null;
    let revokedGrants = 0;
    await revokeOwned(this.dataSource, { clientId }, (revoked) => (revokedGrants += revoked));
    return { first, revokedGrants };
  }
}

function registrationOf({
  clientId: _clientId,
  type: _type,
  stage: _stage,
  version: _version,
  createdAt: _created,
  disabledAt: _disabled,
  deletedAt: _deleted,
  documentDueAt: _dueAt,
  documentChangedAt: _changedAt,
  documentProblem: _problem,
  secrets: _secrets,
  logo: _logo,
  subjectSector: _sector,
  ...registration
}: ClientEntity): ClientRegistration {
  return registration;
}
