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
import { checkingAnswers } from '#test/support/openapi/check-answers.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT, PATIENT_MS } from '#test/support/app-settings.js';
import { until } from '#test/support/until.js';
import { authorizeApp } from '../../src/app.module.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { RevocationPublisher } from '#grants/revocation.publisher.js';
import { PasswordService } from '../../src/login/password.service.js';
import { UiOptions } from '../../src/ui/ui-options.js';
import { Browser } from '#test/support/browser.js';

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
  const configuration = Object.assign(new AuthorizeConfiguration(), {
    AUTH_URL: 'http://localhost:3001',
    BASE_URL,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    LOG_LEVEL: 'silent',
    ...PATIENT,
    ...settings,
  });
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
