import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import { ClientEntity, ClientLogoEntity, ClientSecretEntity } from './client.entity.js';
import { ensureSector, lockClient, lockExisting, writeClientLogo } from './client.statements.js';
import { skeletonOf } from './name-skeleton.js';
import { BATCH, revokeOwned } from '#grants/records/grant-record.statements.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import type { ClientFlags } from './client-flags.js';
import {
  type ClientCondition,
  type ClientLinks,
  type ClientLogo,
  type LogoutUris,
  type TokenRules,
  unknownClient,
} from './client.js';
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

  /** Serializes concurrent changes; writes nothing if `change` throws. */
  async update(
    clientId: string,
    change: (
      current: ClientRegistration,
      existing: { type: ClientType; hasSecrets: boolean; hasDocument: boolean },
    ) => ChangedRegistration,
    condition?: ClientCondition,
    within: EntityManager = this.dataSource.manager,
  ): Promise<RegistrationUpdate> {
    return within.transaction(async (manager) => {
      const current = await lockClient(manager, clientId, condition);
      const hasSecrets = await manager.existsBy(ClientSecretEntity, { clientId, revokedAt: IsNull() });
      const existing = { type: current.type, hasSecrets, hasDocument: current.documentDueAt !== null };
      const registration = registrationOf(current);
      const before = (await manager.findOneBy(ClientLogoEntity, { clientId }))?.digest ?? null;
      const { logo, ...changed } = change(registration, existing);
      if (changed.sector !== null && changed.sector !== current.sector)
        await ensureSector(manager, changed.sector);
      // The portal may write only some of the columns.
      const fields = Object.entries(changed).filter(
        ([field, value]) =>
          JSON.stringify(value) !== JSON.stringify(registration[field as keyof ClientRegistration]),
      );
      if (fields.length === 0) await manager.increment(ClientEntity, { clientId }, 'version', 1);
      else {
        const renamed = changed.name === registration.name ? {} : { nameSkeleton: skeletonOf(changed.name) };
        await manager.update(ClientEntity, { clientId }, { ...Object.fromEntries(fields), ...renamed });
      }
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
   * @returns false if nothing changed
   */
  async setDisabled(clientId: string, disabled: boolean, condition?: ClientCondition): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const client = await lockClient(manager, clientId, condition);
      if ((client.disabledAt !== null) === disabled) return false;
      await manager.update(ClientEntity, { clientId }, { disabledAt: disabled ? () => 'now()' : null });
      return true;
    });
  }

  /**
   * Revokes secrets and grants, and deletes the logo. Disables a client with `client_credentials`, because its tokens
   * have no recorded grant that could be revoked. Idempotent for operators: a second call completes an interrupted
   * call.
   */
  async delete(clientId: string, condition?: ClientCondition): Promise<Deletion> {
    const first = await this.dataSource.transaction(async (manager) => {
      const client = await lockExisting(manager, clientId, condition);
      if (!client && condition?.owner !== undefined) throw unknownClient(clientId);
      if (client?.grantType === 'client_credentials')
        await manager.update(ClientEntity, { clientId, disabledAt: IsNull() }, { disabledAt: () => 'now()' });
      // Before the deletion, which ends the ownership.
      await manager.update(
        ClientSecretEntity,
        { clientId, revokedAt: IsNull() },
        { revokedAt: () => 'now()' },
      );
      const { affected } = await manager.softDelete(ClientEntity, { clientId });
      if (affected !== 1 && !(await manager.exists(ClientEntity, { where: { clientId }, withDeleted: true })))
        throw unknownClient(clientId);
      return affected === 1;
    });
    let revokedGrants = 0;
    if (condition?.owner === undefined)
      await revokeOwned(this.dataSource, { clientId }, (revoked) => (revokedGrants += revoked));
    else revokedGrants = await this.endGrants(clientId);
    return { first, revokedGrants };
  }

  /** Revokes the grants of a deleted client by a function, because the portal may not write grants. */
  private async endGrants(clientId: string): Promise<number> {
    for (let all = 0; ;) {
      const [{ ended } = { ended: 0 }] = await this.dataSource.query<{ ended: number }[]>(
        'SELECT end_client_grants($1, $2) AS ended',
        [clientId, BATCH],
      );
      all += ended;
      if (ended < BATCH) return all;
    }
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
  nameSkeleton: _skeleton,
  secrets: _secrets,
  logo: _logo,
  subjectSector: _sector,
  ...registration
}: ClientEntity): ClientRegistration {
  return registration;
}
