import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import { isolate } from '#test/support/isolate.js';
import type { AuthorizeConfiguration } from '../../src/authorize.configuration.js';
import { type AuthorizeApp, startAuthorizeApp } from './authorize-app.js';
import { Cable } from './cable.js';

type Settings = Partial<AuthorizeConfiguration>;

/** Shared by all tests of a spec. The objects exist immediately, and are filled before the first test. */
interface Shared {
  readonly app: AuthorizeApp;
  readonly client: Client;
  readonly user: User;
}

/** Starts an authorize app with a client and a user for the tests of a spec. */
export const useAuthorizeApp = (settings: Settings = {}): Shared => use(() => startAuthorizeApp(settings));

/**
 * Like `useAuthorizeApp`, with proxies to Redis and PostgreSQL that a test can watch and cut. The test's own connections bypass
 * them.
 */
export function useCabledAuthorizeApp(settings: Settings = {}) {
  const cables = {} as { redis: Cable; postgres: Cable };
  const used = use(async () => {
    const services = await isolate();
    cables.redis = await Cable.to(services.redisUrl);
    cables.postgres = await Cable.to(services.databaseUrl);
    const ways = { REDIS_URL: cables.redis.url, DATABASE_URL: cables.postgres.url };
    return startAuthorizeApp({ ...settings, ...ways }, services);
  });
  afterAll(() => {
    cables.redis.close();
    cables.postgres.close();
  });
  return { ...used, cables };
}

function use(start: () => Promise<AuthorizeApp>): Shared {
  const used = { app: {} as AuthorizeApp, client: {} as Client, user: {} as User };
  beforeAll(async () => {
    Object.assign(used.app, await start());
    Object.assign(used.client, await used.app.client());
    Object.assign(used.user, await used.app.user());
  });
  afterAll(() => used.app.close());
  return used;
}
