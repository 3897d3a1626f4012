import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import { isolate } from '#test/support/isolate.js';
import type { AuthorizeConfiguration } from '../../src/authorize.configuration.js';
import { type AuthorizeApp, startAuthorizeApp } from './authorize-app.js';
import { Cable } from './cable.js';

type Settings = Partial<AuthorizeConfiguration>;

/** What a spec has for all of its tests. The objects are there at once, and filled before the first test. */
interface Used {
  readonly app: AuthorizeApp;
  readonly client: Client;
  readonly user: User;
}

/** An authorize app for the tests of a spec, with an application and a user that are known to it. */
export const useAuthorizeApp = (settings: Settings = {}): Used => use(() => startAuthorizeApp(settings));

/** The same with cables to its Redis and its PostgreSQL, to be watched and cut; what a test does itself goes past them. */
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

function use(start: () => Promise<AuthorizeApp>): Used {
  const used = { app: {} as AuthorizeApp, client: {} as Client, user: {} as User };
  beforeAll(async () => {
    Object.assign(used.app, await start());
    Object.assign(used.client, await used.app.client());
    Object.assign(used.user, await used.app.user());
  });
  afterAll(() => used.app.close());
  return used;
}
