import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import { ClientEntity, ClientLogoEntity, ClientSecretEntity } from './client.entity.js';
import { writeClientLogo } from './client-logo.store.js';
import type { ClientType } from '#oauth/client.js';
import type { ClientLinks, ClientLogo } from './client.js';

/** The properties of a client that the operator can change. */
export interface ClientRegistration extends ClientLinks {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly optionalScopes: readonly string[];
  readonly requirePar: boolean;
  readonly requireState: boolean;
  readonly firstParty: boolean;
}

/** A registration and a new logo; null removes the logo, and without one the old logo stays. */
export type ChangedRegistration = ClientRegistration & { readonly logo?: ClientLogo | null };

/** Result of `delete`. */
export interface Deletion {
  /** False if the client was deleted before. */
  readonly first: boolean;
  readonly revokedGrants: number;
}

/** Grants per statement: keeps it well below its timeout, and its locks short. */
const BATCH = 5_000;

/** Changes registered clients, and deletes them. */
@Injectable()
export class ClientRegistrationStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Changes a client's registration while its row is locked, so that concurrent changes run one after the other and none
   * is lost. If `change` throws, nothing is written.
   *
   * @returns the new registration; null if the client is unknown or deleted
   */
  async update(
    clientId: string,
    change: (current: ClientRegistration, type: ClientType) => ChangedRegistration,
  ): Promise<ClientRegistration | null> {
    return this.dataSource.transaction(async (manager) => {
      const current = await manager.findOne(ClientEntity, {
        where: { clientId, deletedAt: IsNull() },
        lock: { mode: 'for_no_key_update' },
      });
      if (!current) return null;
      const { logo, ...changed } = change(registrationOf(current), current.type);
      const { redirectUris, scopes, optionalScopes, contacts } = changed;
      await manager.update(
        ClientEntity,
        { clientId },
        {
          ...changed,
          redirectUris: [...redirectUris],
          scopes: [...scopes],
          optionalScopes: [...optionalScopes],
          contacts: [...contacts],
        },
      );
      if (logo) await writeClientLogo(manager, clientId, logo);
      if (logo === null) await manager.delete(ClientLogoEntity, { clientId });
      return changed;
    });
  }

  /**
   * Disables or enables a client; its secrets and grants stay. Waits for a grant that is being recorded, and later ones are
   * refused while it is disabled.
   *
   * @returns whether anything changed; null if the client is unknown or deleted
   */
  async setDisabled(clientId: string, disabled: boolean): Promise<boolean | null> {
    const { affected } = await this.dataSource.manager.update(
      ClientEntity,
      { clientId, deletedAt: IsNull(), disabledAt: disabled ? IsNull() : Not(IsNull()) },
      { disabledAt: disabled ? () => 'now()' : null },
    );
    if (affected === 1) return true;
    return (await this.dataSource.manager.existsBy(ClientEntity, { clientId, deletedAt: IsNull() }))
      ? false
      : null;
  }

  /**
   * Deletes a client: no store finds it any more, its secrets and grants are revoked, and its logo is deleted.
   * `GrantRecordStore.create` refuses later grants. Safe to repeat: a second call completes an interrupted one.
   *
   * @returns null if there never was such a client
   */
  async delete(clientId: string): Promise<Deletion | null> {
    const first = await this.dataSource.transaction(async (manager) => {
      const { affected } = await manager.update(
        ClientEntity,
        { clientId, deletedAt: IsNull() },
        { deletedAt: () => 'now()' },
      );
      if (affected !== 1 && !(await manager.existsBy(ClientEntity, { clientId }))) return null;
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
    for (;;) {
      const batch = await this.revokeSomeGrants(clientId);
      revokedGrants += batch;
      if (batch < BATCH) return { first, revokedGrants };
    }
  }

  /** Locks rows in id order, as all code does. */
  private async revokeSomeGrants(clientId: string): Promise<number> {
    const [, revoked] = await this.dataSource.query<[unknown, number]>(
      `WITH live AS (
         SELECT id FROM grants WHERE client_id = $1 AND revoked_at IS NULL ORDER BY id LIMIT $2 FOR NO KEY UPDATE
       )
       UPDATE grants g SET revoked_at = now() FROM live WHERE g.id = live.id`,
      [clientId, BATCH],
    );
    return revoked;
  }
}

function registrationOf(client: ClientEntity): ClientRegistration {
  const { name, redirectUris, scopes, optionalScopes, requirePar, requireState, firstParty } = client;
  const { clientUri, policyUri, contacts } = client;
  return {
    name,
    redirectUris,
    scopes,
    optionalScopes,
    requirePar,
    requireState,
    firstParty,
    clientUri,
    policyUri,
    contacts,
  };
}
