import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { ClientSecretEntity } from './client-secret.entity.js';
import { ClientEntity } from './client.entity.js';
import type { ClientType } from './client.js';

/** What of a client the operator can change later. */
export interface ClientRegistration {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
}

/** So many grants a statement: it stays far from its time-out, and holds no lock for long. */
const BATCH = 5_000;

/** Changes registered clients, and deletes them. */
@Injectable()
export class ClientRegistrationStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Changes a client to what `change` makes of its registration, with the row locked: changes at the same time
   * happen one after the other and none is lost. What `change` throws is thrown, and then nothing is written.
   *
   * @returns the new registration, or null when the client is unknown or deleted
   */
  async update(
    clientId: string,
    change: (current: ClientRegistration, type: ClientType) => ClientRegistration,
  ): Promise<ClientRegistration | null> {
    return this.dataSource.transaction(async (manager) => {
      const current = await manager.findOne(ClientEntity, {
        where: { clientId, deletedAt: IsNull() },
        lock: { mode: 'for_no_key_update' },
      });
      if (!current) return null;
      const changed = change(current, current.type);
      const { name, redirectUris, scopes } = changed;
      await manager.update(
        ClientEntity,
        { clientId },
        { name, redirectUris: [...redirectUris], scopes: [...scopes] },
      );
      return { name, redirectUris, scopes };
    });
  }

  /**
   * Deletes a client for good: from here on nobody finds it, its secrets are revoked, and every grant of it is
   * revoked durably. `GrantRecordStore.create` refuses a grant that comes late. Interrupted it can be called again,
   * and goes on.
   *
   * @returns how many grants this call revoked, or null when there never was such a client
   */
  async delete(clientId: string): Promise<number | null> {
    const known = await this.dataSource.transaction(async (manager) => {
      const { affected } = await manager.update(
        ClientEntity,
        { clientId },
        { deletedAt: () => 'coalesce(deleted_at, now())' },
      );
      await manager.update(
        ClientSecretEntity,
        { clientId, revokedAt: IsNull() },
        { revokedAt: () => 'now()' },
      );
      return affected === 1;
    });
    if (!known) return null;
    let revoked = 0;
    for (;;) {
      const batch = await this.revokeSomeGrants(clientId);
      revoked += batch;
      if (batch < BATCH) return revoked;
    }
  }

  /** Locks in the order of ids, as batches of uses are written: the two cannot deadlock. */
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
