import { createHash, randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { ClientStore, type NewClient } from '#clients/client.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserStore } from '#users/user.store.js';

const DAY_MS = 86_400_000;

export function people(dataSource: DataSource) {
  const [users, clients, grants] = [
    new UserStore(dataSource),
    new ClientStore(dataSource),
    new GrantRecordStore(dataSource),
  ];
  return {
    async user(): Promise<number> {
      const username = `u${randomBytes(6).toString('hex')}`;
      const passwordHash = '$argon2id$nobody logs in with this';
      const email = `${username}@example.com`;
      return (await users.create({ email, username, name: 'Ada', passwordHash })).id;
    },

    async client(values: Partial<NewClient> = {}): Promise<string> {
      const redirectUris = ['https://app.example/callback'];
      return (
        await clients.create({
          name: 'Calendar',
          type: 'public',
          scopes: ['profile:read'],
          redirectUris,
          ...values,
        })
      ).clientId;
    },

    async grant(
      userId: number,
      clientId: string,
      {
        scope = 'profile:read',
        requestedScope,
        resources = null,
        days = 90,
      }: { scope?: string; requestedScope?: string; resources?: string | null; days?: number } = {},
    ): Promise<string> {
      const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
      const expiresAt = new Date(Date.now() + days * DAY_MS);
      const record = {
        id,
        userId,
        clientId,
        scope,
        requestedScope: requestedScope ?? scope,
        resources,
        expiresAt,
      };
      await grants.create(record);
      return id;
    },

    /** Grants profile:read and declines the given scopes. @returns the new grant, and the ids of ended grants */
    async decline(userId: number, clientId: string, declined: readonly string[]) {
      const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
      const expiresAt = new Date(Date.now() + 90 * DAY_MS);
      const requestedScope = ['profile:read', ...declined].join(' ');
      const record = {
        id,
        userId,
        clientId,
        scope: 'profile:read',
        requestedScope,
        resources: null,
        expiresAt,
      };
      const ended = await grants.create(record, declined);
      return { id, ended: ended && ended.declined };
    },
  };
}
