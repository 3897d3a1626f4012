import { randomBytes } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { JWTPayload } from 'jose';
import request, { type Response } from 'supertest';
import { DataSource } from 'typeorm';
import { DatabaseModule } from '#database/database.module.js';
import { UserStore } from '#users/user.store.js';
import { freePort } from '#local/servers/free-port.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { CSRF_FIELD, csrfToken } from '#ui/browser-cookie.js';
import { createService } from '#platform/bootstrap/service.js';
import { appSettings, PATIENT, PATIENT_MS } from '#test/support/app-settings.js';
import { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT, startForgingProvider } from '#test/support/forging-provider.js';
import { checkingAnswers } from '#test/support/openapi/answer-checker.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startAppInProcess } from '#test/support/app-in-process.js';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/keys.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { openFixture, REDIRECT_URI } from '#test/support/fixture.js';
import { consoleApp } from '../../src/app.module.js';
import { ConsoleConfiguration } from '../../src/console.configuration.js';
import { FORM_ID } from '#pages/form.js';
import type { OperatorRequest, OperatorSession } from '../../src/operator.js';
import type { Role } from '../../src/role.js';
import { SessionStore } from '#pages/session.store.js';
import { newFormId } from '#pages/form-id.js';

const CONSOLE_URL = 'http://localhost:3004';

/** Starts a console with a login provider that sends roles as groups. @param given services to share with other apps */
export async function startConsoleApp(settings: Partial<ConsoleConfiguration> = {}, given?: Isolated) {
  const services = given ?? (await isolate());
  const provider = await startForgingProvider(await freePort());
  const database = await NestFactory.createApplicationContext(
    DatabaseModule.forRoot({ databaseUrl: services.databaseUrl, timeoutMs: PATIENT_MS }),
    { logger: false },
  );
  const configuration = Object.assign(
    new ConsoleConfiguration(),
    withCredentials('console', {
      CONSOLE_URL,
      AUTH_URL: 'http://localhost:3001',
      BASE_URL: 'http://localhost:3002',
      API_URL: 'http://localhost:3003',
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      NATS_URL: services.natsUrl,
      CONSOLE_ISSUER: provider.issuer,
      CONSOLE_CLIENT_ID: FORGER_CLIENT.id,
      CONSOLE_CLIENT_SECRET: FORGER_CLIENT.secret,
      CONSOLE_GROUPS_CLAIM: 'groups',
      CONSOLE_ROLES: 'viewers=viewer,helpers=support,admins=admin',
      LOG_LEVEL: 'silent',
      ...PATIENT,
      ...settings,
    }),
  );
  /** Milliseconds by which the clock of the app is ahead. */
  const clock = { ahead: 0 };
  const service = checkingAnswers(consoleApp(configuration, () => Date.now() + clock.ahead));
  const app = await createService(service);
  await app.listen(settings.PORT ?? 0, '127.0.0.1');
  const redis = new Redis(services.redisUrl);
  const now = () => Math.floor((Date.now() + clock.ahead) / 1000);
  const GROUPS: Record<Role, string> = { viewer: 'viewers', support: 'helpers', admin: 'admins' };

  return {
    configuration,
    services,
    provider,
    redis,
    clock,
    users: database.get(UserStore),
    sql: <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
      database.get(DataSource).query<Row[]>(text, values),
    server: app.getHttpServer(),
    metrics: app.get(Metrics, { strict: false }).registry,
    controllers: [...app.get(ModulesContainer).values()].flatMap(({ controllers }) =>
      [...controllers.values()].map(({ metatype }) => metatype as Type),
    ),
    browser: (): Browser => new Browser(app.getHttpServer()),

    /** Logs in, by default with a current `auth_time`. @returns the response of the login callback */
    async logIn(browser: Browser, claims: JWTPayload, page = '/') {
      const login = `/login?page=${encodeURIComponent(page)}`;
      return provider.logIn(
        browser,
        { claims: { auth_time: now(), preferred_username: 'ada', ...claims } },
        login,
      );
    },

    /** Returns a browser in which an operator with this role is logged in. */
    async operator(role: Role, name = 'ada'): Promise<Browser> {
      const browser = new Browser(app.getHttpServer());
      await this.logIn(browser, { groups: [GROUPS[role]], preferred_username: name });
      return browser;
    },

    /** Posts a form with a valid CSRF token, even if no page shows the form. */
    async postForm(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<Response> {
      const request = { headers: { cookie: browser.cookies.header() } } as OperatorRequest;
      const account = await app
        .get<SessionStore<OperatorSession>>(SessionStore, { strict: false })
        .use(request);
      const token = csrfToken(account?.formKey ?? '', path);
      return browser.post(path, {
        ...fields,
        [CSRF_FIELD]: token,
        [FORM_ID]: newFormId(account?.formIdKey ?? ''),
      });
    },

    async resetRateLimits(): Promise<void> {
      await redis.del('none', ...(await redis.keys('console:rate:*')));
    },

    async close(): Promise<void> {
      await app.close();
      service.report.throwProblems();
      await database.close();
      redis.disconnect();
      provider.close();
      if (!given) await services.close();
    },
  };
}

export type ConsoleApp = Awaited<ReturnType<typeof startConsoleApp>>;

interface Call {
  /** Defaults to a token with every scope; null sends no token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const ISSUER = 'https://base.example.com';

/** Starts a console with stored roles, and a token app, which issues and checks the tokens. */
export async function startAdminApi() {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const proxy = await FaultProxy.start(services.redisUrl);
  const roles = { CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' };
  const console = await startConsoleApp(
    { REDIS_URL: proxy.url, OUTSIDE_FETCH_ALLOW: '127.0.0.1', ...roles },
    services,
  );
  const { CONSOLE_URL } = console.configuration;
  const environment = { ...appSettings(services), TOKEN_KEYS, CONSOLE_URL };
  const token = await startAppInProcess('token', environment);
  const fixture = await openFixture(services, TOKEN_KEYS);
  const key = await ClientKey.generate();

  const tokenRequest = async (parameters: Record<string, string>, url = token.url): Promise<string> => {
    const response = await fetch(`${url}/api/auth/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    });
    const { access_token: accessToken = '' } = (await response.json()) as { access_token?: string };
    if (!response.ok) throw new Error(`no token: ${response.status}`);
    return accessToken;
  };

  /** Registers an API client. @returns its client_id and a token */
  const registerClient = async (scope = 'admin:read admin:write admin:operators') => {
    const { clientId } = await fixture.clients.create({
      name: 'Terraform',
      type: 'confidential',
      scopes: scope.split(' '),
      redirectUris: [],
      ...keysOf(key),
      grantType: 'client_credentials',
    });
    return { clientId, accessToken: await tokenOf(clientId) };
  };

  const tokenOf = async (clientId: string, url?: string) => {
    const assertion = await key.assertion(clientId, ISSUER);
    const credentials = { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
    return tokenRequest({ grant_type: 'client_credentials', ...credentials }, url);
  };

  const standard = await registerClient();

  return {
    console,
    /** Proxy between the console and Redis. */
    proxy,
    fixture,
    services,
    clientId: standard.clientId,
    registerClient,

    /** Sends a request. A POST has a new Idempotency-Key unless `headers` contains one. */
    async call(method: string, path: string, { token: given, headers, body }: Call = {}): Promise<Response> {
      const accessToken = given === undefined ? standard.accessToken : given;
      const sent = request(console.server)[method as 'get'](`/admin/v1${path}`);
      if (accessToken !== null) sent.set('Authorization', `Bearer ${accessToken}`);
      if (method === 'post') sent.set('Idempotency-Key', randomBytes(9).toString('base64url'));
      return sent.set({ ...headers }).send(body);
    },

    /** Returns a token for another console, issued to the client of `clientId`. */
    async tokenForOtherApi(): Promise<string> {
      const other = await startAppInProcess('token', {
        ...environment,
        CONSOLE_URL: 'http://localhost:3005',
      });
      const accessToken = await tokenOf(standard.clientId, other.url);
      await other.stop();
      return accessToken;
    },

    /** Returns the access token of a user. @param resources APIs for which it was requested */
    async tokenOfUser(resources?: string): Promise<string> {
      const client = await fixture.client();
      const scope = 'profile:read';
      const code = await fixture.code(client.client_id, await fixture.user(), {
        scope,
        ...(resources && { resources }),
      });
      return tokenRequest({ ...client, grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
    },

    async close(): Promise<void> {
      await console.close();
      await proxy.close();
      await token.stop();
      await fixture.close();
      await services.close();
    },
  };
}

export type AdminApi = Awaited<ReturnType<typeof startAdminApi>>;
