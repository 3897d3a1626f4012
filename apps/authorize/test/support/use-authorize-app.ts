import { freePort } from '#local/servers/free-port.js';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { isolate } from '#test/support/isolate.js';
import type { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { type AuthorizeApp, startAuthorizeApp } from './start-authorize-app.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { FORGER_CLIENT, type ForgingProvider, startForgingProvider } from '#test/support/forging-provider.js';
import { started } from '#test/support/started.js';

type Settings = Partial<AuthorizeConfiguration>;

/** Objects shared by all tests of a file. */
interface Shared {
  readonly app: AuthorizeApp;
  readonly client: Client;
  readonly user: User;
}

export const useAuthorizeApp = (settings: Settings = {}): Shared => use(() => startAuthorizeApp(settings));

/** Starts the app behind proxies of Redis and PostgreSQL. The test's own connections bypass the proxies. */
export function useProxiedAuthorizeApp(settings: Settings = {}) {
  const proxies = started() as { redis: FaultProxy; postgres: FaultProxy };
  const used = use(async () => {
    const services = await isolate();
    proxies.redis = await FaultProxy.start(services.redisUrl);
    proxies.postgres = await FaultProxy.start(services.databaseUrl);
    const proxyUrls = { REDIS_URL: proxies.redis.url, DATABASE_URL: proxies.postgres.url };
    return startAuthorizeApp({ ...settings, ...proxyUrls }, services);
  });
  afterAll(async () => {
    for (const proxy of Object.values(proxies)) await proxy.close();
  });
  return { ...used, proxies };
}

/** Starts an app with logins at an OpenID provider. @param metadata additional metadata of the provider */
export function useProviderLogin(
  settings: Settings = {},
  metadata: (issuer: string) => Record<string, unknown> = () => ({}),
) {
  const provider = started() as ForgingProvider;
  const used = use(async () => {
    Object.assign(provider, await startForgingProvider(await freePort()));
    provider.state.metadata = metadata(provider.issuer);
    return startAuthorizeApp({
      LOGIN_ISSUER: provider.issuer,
      LOGIN_CLIENT_ID: FORGER_CLIENT.id,
      LOGIN_CLIENT_SECRET: FORGER_CLIENT.secret,
      ...settings,
    });
  });
  afterAll(() => provider.close());
  return { ...used, provider };
}

function use(start: () => Promise<AuthorizeApp>): Shared {
  const used = { app: started() as AuthorizeApp, client: started() as Client, user: started() as User };
  beforeAll(async () => {
    Object.assign(used.app, await start());
    Object.assign(used.client, await used.app.client());
    Object.assign(used.user, await used.app.user());
  });
  afterAll(() => used.app.close());
  return used;
}
