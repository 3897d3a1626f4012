import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, type Repository } from 'typeorm';
import type { ClientCondition, ClientSecretRecord } from './client.js';
import { ClientEntity, ClientSecretEntity } from './client.entity.js';
import { lockClient } from './client.statements.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { AdministrationError, refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';

interface SecretUsage {
  readonly id: string;
  /** Day, like 2026-01-31. */
  readonly createdOn: string;
  /** Minute, like 2026-01-31 18:00. */
  readonly lastUsedAt: string | null;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** RFC 6749 2.1: a public client has no secrets. */
    public_client: { readonly clientId: string };
    /** A client with keys has no secrets (docs/adr/0028-client-keys.md). */
    key_client: { readonly clientId: string };
    /** The problem, followed by one for each secret. */
    two_live_secrets:
      { readonly clientId: string; readonly secret: SecretUsage } | { readonly secret?: never };
    /** Without its last secret the client could not authenticate. `isConsole` if operators log in by this client. */
    last_live_secret: { readonly clientId: string; readonly isConsole: boolean };
    secret_unknown: { readonly clientId: string; readonly secretId: string };
  }
}

const MAX_LIVE = 2;

/**
 * A client has up to two live secrets, which permits rotation. The lock on the client's row serializes changes. Methods
 * return the live secrets, oldest first.
 */
@Injectable()
export class ClientSecretStore {
  private readonly secrets: Repository<ClientSecretEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.secrets = dataSource.getRepository(ClientSecretEntity);
  }

  list(clientId: string): Promise<ClientSecretRecord[]> {
    return this.change(clientId, undefined, (_, live) => Promise.resolve(live));
  }

  /**
   * @param hash SHA-256 of the secret, 32 bytes
   * @param expiresAt null for a secret that does not expire
   */
  add(
    clientId: string,
    hash: Buffer,
    condition?: ClientCondition,
    expiresAt: Date | null = null,
  ): Promise<ClientSecretRecord[]> {
    return this.change(clientId, condition, async (manager, live) => {
      if (live.length >= MAX_LIVE) throw twoLive(clientId, live);
      const added = manager.create(ClientSecretEntity, { clientId, hash, lastUsedAt: null, expiresAt });
      await manager.insert(ClientSecretEntity, added);
      await nextVersion(manager, clientId);
      return [...live, toRecord(added)];
    });
  }

  /**
   * Revokes a secret, but the last live secret only with `force`.
   * @param isConsole returns true for the client by which operators log in
   */
  revoke(
    clientId: string,
    secretId: string,
    force = false,
    condition?: ClientCondition,
    isConsole: (client: ClientEntity) => boolean = () => false,
  ): Promise<ClientSecretRecord[]> {
    return this.change(clientId, condition, async (manager, live, client) => {
      const others = live.filter(({ id }) => id !== secretId);
      if (others.length === live.length) throw unknownSecret(clientId, secretId);
      if (others.length === 0 && !force)
        throw refused(
          'conflict',
          problem('last_live_secret', [], { clientId, isConsole: isConsole(client) }),
        );
      await manager.update(ClientSecretEntity, { id: secretId }, { revokedAt: () => 'now()' });
      await nextVersion(manager, clientId);
      return others;
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
    work: (
      manager: EntityManager,
      live: ClientSecretRecord[],
      client: ClientEntity,
    ) => Promise<ClientSecretRecord[]>,
  ): Promise<ClientSecretRecord[]> {
    return this.dataSource.transaction(async (manager) => {
      const client = await lockClient(manager, clientId, condition);
      if (client.type === 'public') throw refused('conflict', problem('public_client', [], { clientId }));
      if (hasKeys(client)) throw refused('conflict', problem('key_client', [], { clientId }));
      const live = await manager.find(ClientSecretEntity, {
        where: { clientId, revokedAt: IsNull() },
        order: { createdAt: 'ASC', id: 'ASC' },
      });
      return work(manager, live.map(toRecord), client);
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

function twoLive(clientId: string, live: readonly ClientSecretRecord[]): AdministrationError {
  const usages = live.map(({ id, createdAt, lastUsedAt }) => ({
    id,
    createdOn: createdAt.toISOString().slice(0, 10),
    lastUsedAt: lastUsedAt?.toISOString().slice(0, 16).replace('T', ' ') ?? null,
  }));
  return new AdministrationError('conflict', [
    problem('two_live_secrets', [], {}),
    ...usages.map((secret) => problem('two_live_secrets', [], { clientId, secret })),
  ]);
}

export function unknownSecret(clientId: string, secretId: string): AdministrationError {
  return refused('unknown', problem('secret_unknown', [], { clientId, secretId }));
}
