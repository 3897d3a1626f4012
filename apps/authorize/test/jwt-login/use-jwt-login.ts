import { decodeJwt, type JWTPayload } from 'jose';
import type { Response } from 'supertest';
import type { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { authorizeAddress, REDIRECT_URI } from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { useProxiedAuthorizeApp } from '../support/use-authorize-app.js';
import { type AssertionSettings, PRODUCT_URL, ProductKey } from './product.js';

export const CALLBACK = '/auth/login/callback';

export const PROFILE = { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };

export function useJwtLogin(settings: Partial<AuthorizeConfiguration> = {}) {
  const key = new ProductKey();
  const LOGIN_URL = `${PRODUCT_URL}/oauth-login?from=oauth`;
  const { app, client, proxies } = useProxiedAuthorizeApp({
    LOGIN_URL,
    ...(settings.LOGIN_JWKS_URL === undefined && { LOGIN_PUBLIC_KEY: key.pem }),
    ...settings,
  });

  const address = (more: Record<string, string> = {}): string =>
    authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's1', ...more });

  const challenge = async (browser: Browser, request = address()): Promise<string> =>
    challengeIn(await browser.get(request.replace('/oauth2/authorize', '/login')));

  const jwtLogin = (browser: Browser, assertion: string): Promise<Response> =>
    browser.post(CALLBACK, { assertion });

  const assertion = (to: string, { header = {}, claims = {} }: AssertionSettings = {}): Promise<string> =>
    key.assertion(to, { header, claims: { ...PROFILE, ...claims } });

  return {
    app,
    client,
    proxies,
    key,
    address,
    challenge,
    assertion,
    jwtLogin,

    logIn: async (
      browser: Browser,
      claims: AssertionSettings['claims'] = {},
      request = address(),
    ): Promise<Response> => jwtLogin(browser, await assertion(await challenge(browser, request), { claims })),

    sessions: async (): Promise<number> => (await app.redis.keys('session:*')).length,

    user: async (subject = 'u1') => {
      const sql =
        'SELECT id, email, username, name, time_zone FROM users WHERE external_id = $1 AND issuer = $2';
      const [row] = await app.sql<Record<string, unknown>>(sql, [subject, PRODUCT_URL]);
      return row;
    },
  };
}

export function challengeIn({ status, headers }: Response): string {
  expect(status).toBe(303);
  const location = new URL(headers['location'] ?? '');
  expect(location.origin + location.pathname).toBe(`${PRODUCT_URL}/oauth-login`);
  expect([...location.searchParams.keys()]).toEqual(['from', 'challenge']);
  return location.searchParams.get('challenge') ?? '';
}

export const claimsOf = (challenge: string): JWTPayload => decodeJwt(challenge);

export function expectRefused(answer: Response, status: number, words: RegExp | string): void {
  expect(answer.status).toBe(status);
  expect(answer.text).toMatch(words);
  expect(answer.headers['set-cookie']).toBeUndefined();
}
