import { randomBytes } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Response } from 'supertest';
import { freePort } from '#local/servers/free-port.js';
import { FORM_ID } from '#pages/form.js';
import { newFormId } from '#pages/form-id.js';
import { SessionStore } from '#pages/session.store.js';
import { createService } from '#platform/bootstrap/service.js';
import { CSRF_FIELD, csrfToken } from '#ui/browser-cookie.js';
import { PATIENT } from '#test/support/app-settings.js';
import { Browser } from '#test/support/browser.js';
import { openFixture } from '#test/support/fixture.js';
import { FORGER_CLIENT, startForgingProvider } from '#test/support/forging-provider.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { developersApp } from '../../src/app.module.js';
import type { DeveloperRequest, DeveloperSession } from '../../src/developer.js';
import { DevelopersConfiguration } from '../../src/developers.configuration.js';

const DEVELOPERS_URL = 'http://localhost:3005';

/** Starts a portal with a login provider that issues tokens of stored grants. */
export async function startDevelopersApp(settings: Partial<DevelopersConfiguration> = {}, given?: Isolated) {
  const services = given ?? (await isolate());
  const provider = await startForgingProvider(await freePort());
  const tokenKeys = randomBytes(32).toString('base64url');
  const fixture = await openFixture(services, tokenKeys);
  const portal = await fixture.clients.create({
    name: 'Developers',
    type: 'confidential',
    scopes: ['openid'],
    redirectUris: [`${DEVELOPERS_URL}/login/callback`],
    firstParty: true,
    developerPortal: true,
  });
  const configuration = Object.assign(
    new DevelopersConfiguration(),
    withCredentials('developers', {
      DEVELOPERS_URL,
      AUTH_URL: 'http://localhost:3001',
      BASE_URL: provider.issuer,
      API_URL: 'http://localhost:3003',
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      NATS_URL: services.natsUrl,
      DEVELOPERS_CLIENT_ID: FORGER_CLIENT.id,
      DEVELOPERS_CLIENT_SECRET: FORGER_CLIENT.secret,
      LOG_LEVEL: process.env['DEBUG_PORTAL'] ?? 'silent',
      ...PATIENT,
      ...settings,
    }),
  );
  /** Milliseconds by which the clock of the app is ahead. */
  const clock = { ahead: 0 };
  const app = await createService(developersApp(configuration, () => Date.now() + clock.ahead));
  await app.listen(settings.PORT ?? 0, '127.0.0.1');
  const now = () => Math.floor((Date.now() + clock.ahead) / 1000);

  return {
    configuration,
    services,
    tokenKeys,
    fixture,
    provider,
    clock,
    server: app.getHttpServer(),
    browser: (): Browser => new Browser(app.getHttpServer()),
    controllers: [...app.get(ModulesContainer).values()].flatMap(({ controllers }) =>
      [...controllers.values()].map(({ metatype }) => metatype as Type),
    ),

    /** Logs a user in, by default with a current `auth_time`. @returns the response of the login callback */
    async logIn(browser: Browser, userId: number, page = '/', claims: object = {}): Promise<Response> {
      const code = await fixture.code(portal.clientId, userId, { scope: 'openid' });
      const given = { sub: String(userId), auth_time: now(), preferred_username: `user${userId}`, ...claims };
      const address = `/login?page=${encodeURIComponent(page)}`;
      return provider.logIn(browser, { claims: given, accessToken: code }, address);
    },

    /** Returns a browser in which a new user is logged in. */
    async developer(claims: object = {}): Promise<{ readonly browser: Browser; readonly userId: number }> {
      const browser = new Browser(app.getHttpServer());
      const userId = await fixture.user();
      await this.logIn(browser, userId, '/', claims);
      return { browser, userId };
    },

    /** Posts a form with a valid CSRF token, even if no page shows the form. */
    async postForm(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<Response> {
      const request = { headers: { cookie: browser.cookies.header() } } as DeveloperRequest;
      const session = await app
        .get<SessionStore<DeveloperSession>>(SessionStore, { strict: false })
        .use(request);
      return browser.post(path, {
        ...fields,
        [CSRF_FIELD]: csrfToken(session?.formKey ?? '', path),
        [FORM_ID]: newFormId(session?.formIdKey ?? ''),
      });
    },

    /** Submits a request. @returns the client id of the application in testing */
    async application(browser: Browser, fields: Record<string, string> = {}): Promise<string> {
      const created = await this.postForm(browser, '/requests', { ...REQUEST, ...fields, action: 'submit' });
      const [, clientId = ''] = /id="client-id">([^<]+)</.exec(created.text) ?? [];
      if (clientId === '') throw new Error(`no application: ${created.status}`);
      return clientId;
    },

    /** Stores a refused request, as the index of the audit trail does. */
    async refusal(clientId: string, fields: Partial<StoredRefusal> = {}): Promise<StoredRefusal> {
      const refusal: StoredRefusal = {
        at: new Date(),
        reference: randomBytes(9).toString('base64url'),
        cause: 'redirect_uri_mismatch',
        detail: {
          sent: 'https://rooms.example.com/callback/',
          expected: 'https://rooms.example.com/callback',
        },
        ...fields,
      };
      const [row] = (await fixture.sql(
        `INSERT INTO refused_requests (client_id, event, at, reference, cause, error, status, request, description, detail)
         VALUES ($1, $2, $3, $4, $5, 'invalid_grant', 400, 'POST /api/auth/oauth/token', 'a description', $6) RETURNING id`,
        [
          clientId,
          randomBytes(9).toString('hex'),
          refusal.at,
          refusal.reference,
          refusal.cause,
          refusal.detail,
        ],
      )) as { id: string }[];
      return { ...refusal, id: String(row?.id) };
    },

    async resetRateLimits(): Promise<void> {
      await fixture.redis.del('none', ...(await fixture.redis.keys('developers:rate:*')));
    },

    async close(): Promise<void> {
      await app.close();
      await fixture.close();
      provider.close();
      if (!given) await services.close();
    },
  };
}

interface StoredRefusal {
  readonly id?: string;
  readonly at: Date;
  readonly reference: string;
  readonly cause: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export type DevelopersApp = Awaited<ReturnType<typeof startDevelopersApp>>;

/** Fields of a complete request. */
export const REQUEST = {
  name: 'Room Finder',
  purpose: 'Finds rooms for meetings.',
  clientUri: 'https://rooms.example.com',
  policyUri: 'https://rooms.example.com/privacy',
  contacts: 'help@rooms.example.com',
  application: 'server',
  redirectUris: 'https://rooms.example.com/callback',
  'reason:profile:read': 'Shows the name of the user.',
} as const;
