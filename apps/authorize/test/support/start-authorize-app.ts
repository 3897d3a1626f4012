import { randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { Response } from 'supertest';
import { DataSource } from 'typeorm';
import type { Client } from '#clients/client.js';
import { ClientStore, type NewClient } from '#clients/client.store.js';
import { DatabaseModule } from '#database/database.module.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import type { User } from '#users/user.js';
import { createService } from '#platform/bootstrap/service.js';
import { checkingAnswers } from '#test/support/openapi/answer-checker.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT, PATIENT_MS } from '#test/support/app-settings.js';
import { until } from '#test/support/until.js';
import { RevocationPublisher } from '#grants/revocation.service.js';
import { Browser } from '#test/support/browser.js';
import { freePort } from '#local/servers/free-port.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { FORGER_CLIENT, type ForgingProvider, startForgingProvider } from '#test/support/forging-provider.js';
import { started } from '#test/support/fixture.js';
import { authorizeApp } from '../../src/app.module.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { PasswordService } from '../../src/login/password.service.js';
import { UiOptions } from '../../src/ui/ui-options.js';

export const BASE_URL = 'https://base.example.com';
export const REDIRECT_URI = 'https://app.example.com/callback?tenant=7&x=%2F';
export const PASSWORD = 'correct horse <b>battery</b> staple';
/** Example values of RFC 7636, Appendix B. */
export const PKCE = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
} as const;

/** Minimal argon2id parameters, because few tests depend on the cost of a hash. */
const MINIMAL_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Compares the default password without hashing: a login would verify the hash and replace it by one at full cost. */
function skipHashing(passwords: PasswordService, cheapHash: string): void {
  const verify = passwords.verify.bind(passwords);
  passwords.verify = async (password, credentials, known) =>
    credentials.passwordHash === cheapHash ? password === PASSWORD : verify(password, credentials, known);
}

/** @param settings may contain the URLs of proxies */
export async function startAuthorizeApp(
  settings: Partial<AuthorizeConfiguration> = {},
  given?: Isolated,
  port = 0,
) {
  const services = given ?? (await isolate());
  const database = await NestFactory.createApplicationContext(
    DatabaseModule.forRoot({ databaseUrl: services.databaseUrl, timeoutMs: PATIENT_MS }),
    { logger: false },
  );
  const configuration = Object.assign(
    new AuthorizeConfiguration(),
    withCredentials('authorize', {
      AUTH_URL: 'http://localhost:3001',
      BASE_URL,
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      NATS_URL: services.natsUrl,
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
      LOG_LEVEL: 'silent',
      ...PATIENT,
      ...settings,
    }),
  );
  /** Milliseconds by which the clock of the app is ahead. */
  const clock = { ahead: 0 };
  const service = checkingAnswers(authorizeApp(configuration, () => Date.now() + clock.ahead));
  const app = await createService(service);
  await app.listen(port, '127.0.0.1');
  // The connection opens in the background; `publish` returns true when it is open.
  if (settings.NATS_URL === undefined)
    await until('NATS is connected', 60_000, () => app.get(RevocationPublisher).publish([]));
  const redis = new Redis(services.redisUrl);
  const cheapHash = await hash(PASSWORD, MINIMAL_COST);
  if (configuration.LOGIN_ISSUER === '' && configuration.LOGIN_URL === '')
    skipHashing(app.get(PasswordService, { strict: false }), cheapHash);

  return {
    configuration,
    brand: app.get(UiOptions).brand,
    services,
    redis,
    clock,
    records: database.get(GrantRecordStore),
    accounts: database.get(UserAccountStore),
    url: await app.getUrl(),

    sql: <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
      database.get(DataSource).query<Row[]>(text, values),

    browser: (): Browser => new Browser(app.getHttpServer()),

    async loggedIn(user: User): Promise<Browser> {
      const browser = new Browser(app.getHttpServer());
      const page = await browser.get('/auth/login');
      await browser.submit(page, { username: user.email, password: PASSWORD });
      return browser;
    },

    client(
      registration: Partial<Omit<NewClient, 'redirectUris'>> = {},
      ...redirectUris: string[]
    ): Promise<Client> {
      const uris = redirectUris.length === 0 ? [REDIRECT_URI] : redirectUris;
      const defaults = { type: 'confidential', name: 'Calendar Connect', scopes: ['profile:read'] } as const;
      return database.get(ClientStore).create({ ...defaults, ...registration, redirectUris: uris });
    },

    /** @param passwordHash defaults to a hash of PASSWORD with minimal cost */
    user(name = 'Ada Lovelace', passwordHash = cheapHash): Promise<User> {
      const username = `ada${randomBytes(6).toString('hex')}`;
      return database
        .get(UserStore)
        .create({ email: `${username}@example.com`, username, name, passwordHash });
    },

    async close(): Promise<void> {
      await app.close();
      await database.close();
      redis.disconnect();
      await services.close();
      service.report.throwProblems();
    },
  };
}

export type AuthorizeApp = Awaited<ReturnType<typeof startAuthorizeApp>>;

export type RequestParameters = Readonly<Record<string, string | undefined>>;

export function authorizeAddress(parameters: RequestParameters): string {
  const present = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/auth/oauth2/authorize?${new URLSearchParams(present).toString()}`;
}

/** Sends an authorization request without a session. @param more appended to the query unencoded */
export const authorize = (
  app: AuthorizeApp,
  { clientId }: Client,
  overrides: RequestParameters,
  more = '',
): Promise<Response> =>
  app
    .browser()
    .get(
      authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', ...overrides }) + more,
    );

export function redirectParameters(location: string | undefined): Record<string, string> {
  return Object.fromEntries(new URL(location ?? '').searchParams);
}

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
