import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, type Repository } from 'typeorm';
import type { ClientCondition, ClientSecretRecord } from './client.js';
import { ClientEntity, ClientSecretEntity } from './client.entity.js';
import { lockClient } from './client.statements.js';
import { hasKeys } from '#oauth/oauth-client.js';

type SecretRefusal =
  | { readonly outcome: 'unknown_client' }
  /** RFC 6749 2.1: a public client has no secrets. */
  | { readonly outcome: 'public_client' }
  /** A client with keys has no secrets (docs/adr/0028-client-keys.md). */
  | { readonly outcome: 'key_client' }
  | { readonly outcome: 'two_live'; readonly live: readonly ClientSecretRecord[] }
  | { readonly outcome: 'unknown_secret'; readonly live: readonly ClientSecretRecord[] }
  /** Without its last secret the client could not authenticate. */
  | { readonly outcome: 'last_live' };

export type SecretOutcome =
  { readonly outcome: 'done'; readonly live: readonly ClientSecretRecord[] } | SecretRefusal;

const MAX_LIVE = 2;

/** A client has up to two live secrets, which permits rotation. The lock on the client's row serializes changes. */
@Injectable()
export class ClientSecretStore {
  private readonly secrets: Repository<ClientSecretEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.secrets = dataSource.getRepository(ClientSecretEntity);
  }

  /** Lists the live secrets, oldest first. */
  list(clientId: string): Promise<SecretOutcome> {
    return this.change(clientId, undefined, (_, live) => Promise.resolve({ outcome: 'done', live }));
  }

  /**
   * @param hash SHA-256 of the secret, 32 bytes
   * @param expiresAt null for a secret that does not expire
   * @throws OutdatedVersionError
   */
  add(
    clientId: string,
    hash: Buffer,
    condition?: ClientCondition,
    expiresAt: Date | null = null,
  ): Promise<SecretOutcome> {
    return this.change(clientId, condition, async (manager, live) => {
      if (live.length >= MAX_LIVE) return { outcome: 'two_live', live };
      const added = manager.create(ClientSecretEntity, { clientId, hash, lastUsedAt: null, expiresAt });
      await manager.insert(ClientSecretEntity, added);
      await nextVersion(manager, clientId);
      return { outcome: 'done', live: [...live, toRecord(added)] };
    });
  }

  /** Revokes a secret, but the last live secret only with `force`. @throws OutdatedVersionError */
  revoke(
    clientId: string,
    secretId: string,
    force = false,
    condition?: ClientCondition,
  ): Promise<SecretOutcome> {
    return this.change(clientId, condition, async (manager, live) => {
      const others = live.filter(({ id }) => id !== secretId);
      if (others.length === live.length) return { outcome: 'unknown_secret', live };
      if (others.length === 0 && !force) return { outcome: 'last_live' };
      await manager.update(ClientSecretEntity, { id: secretId }, { revokedAt: () => 'now()' });
      await nextVersion(manager, clientId);
      return { outcome: 'done', live: others };
    });
  }

  /** Ignores a time before the recorded time. @param uses `at` is a time in ISO 8601 */
  async touch(uses: readonly { id: string; at: string }[]): Promise<void> {
    if (uses.length === 0) return;
    // Locks rows in id order, so that overlapping batches cannot deadlock.
    await this.secrets.query(
      `WITH uses AS (
         SELECT id, max(at) AS at FROM unnest($1::uuid[], $2::timestamptz[]) AS use (id, at) GROUP BY id
       ), moved AS (
         SELECT s.id, uses.at FROM client_secrets s JOIN uses USING (id)
         WHERE s.last_used_at IS NULL OR s.last_used_at < uses.at
         ORDER BY s.id FOR NO KEY UPDATE OF s
       )
       UPDATE client_secrets s SET last_used_at = greatest(s.last_used_at, moved.at)
       FROM moved WHERE s.id = moved.id`,
      [uses.map(({ id }) => id), uses.map(({ at }) => at)],
    );
  }

  private change(
    clientId: string,
    condition: ClientCondition | undefined,
    work: (manager: EntityManager, live: ClientSecretRecord[]) => Promise<SecretOutcome>,
  ): Promise<SecretOutcome> {
    return this.dataSource.transaction(async (manager) => {
      const client = await lockClient(manager, clientId, condition);
      if (!client) return { outcome: 'unknown_client' };
      if (client.type === 'public') return { outcome: 'public_client' };
      if (hasKeys(client)) return { outcome: 'key_client' };
      const live = await manager.find(ClientSecretEntity, {
        where: { clientId, revokedAt: IsNull() },
        order: { createdAt: 'ASC', id: 'ASC' },
      });
      return work(manager, live.map(toRecord));
    });
  }
}

/** Increases the client's version, which covers its secrets. */
async function nextVersion(manager: EntityManager, clientId: string): Promise<void> {
  await manager.increment(ClientEntity, { clientId }, 'version', 1);
}

function toRecord({ id, createdAt, lastUsedAt, expiresAt }: ClientSecretEntity): ClientSecretRecord {
  return { id, createdAt, lastUsedAt, expiresAt };
}
