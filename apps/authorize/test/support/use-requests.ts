import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import {
  authorizeAddress,
  BASE_URL,
  PASSWORD,
  REDIRECT_URI,
  redirectParameters,
  useAuthorizeApp,
} from './start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { started } from '#test/support/fixture.js';

export const AUTHORIZE = '/auth/oauth2/authorize';

export function useRequests(settings: Parameters<typeof useAuthorizeApp>[0] = {}) {
  const { app } = useAuthorizeApp(settings);
  const now = started() as { client: Client; user: User };

  beforeEach(async () => {
    now.client = await app.client({
      scopes: ['profile:read', 'bookings:read', 'bookings:write'],
      optionalScopes: ['bookings:write'],
    });
    now.user = await app.user();
  });

  const address = (more: Record<string, string | undefined> = {}): string => {
    const { clientId } = now.client;
    return authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's1', ...more });
  };

  return {
    app,
    /** Client and user of the current test, which may replace them. */
    now,
    address,

    consented: async (more: Record<string, string> = {}): Promise<Browser> => {
      const browser = await app.loggedIn(now.user);
      expectCode(await allow(browser, await browser.get(address(more))));
      return browser;
    },

    logIn: (browser: Browser, page: Response, as = now.user): Promise<Response> =>
      browser.submit(page, { username: as.email, password: PASSWORD }, '/auth/login'),

    scopes: async (): Promise<string[]> => {
      const sql = 'SELECT scope FROM grants WHERE client_id = $1 ORDER BY created_at';
      return (await app.sql<{ scope: string }>(sql, [now.client.clientId])).map(({ scope }) => scope);
    },
  };
}

export const allow = (browser: Browser, page: Response): Promise<Response> =>
  browser.submit(page, { decision: 'allow' }, AUTHORIZE);

export function expectCode(answer: Response): void {
  expect(answer.status).toBe(303);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(redirectParameters(answer.headers['location'])).toEqual({
    tenant: '7',
    x: '/',
    code: expect.stringMatching(/^sac_/),
    state: 's1',
    iss: BASE_URL,
  });
}

export function expectConsentPage(answer: Response): void {
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('value="allow"');
}

export function expectLogin(answer: Response, request: string): void {
  expect(answer.status).toBe(303);
  expect(answer.headers['location']).toBe(request.replace(AUTHORIZE, '/auth/login'));
}
