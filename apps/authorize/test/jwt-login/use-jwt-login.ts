import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { decodeJwt, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Response } from 'supertest';
import type { Browser } from '#test/support/browser.js';
import type { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { authorizeAddress, REDIRECT_URI, useProxiedAuthorizeApp } from '../support/start-authorize-app.js';

export const AUTH_URL = 'http://localhost:3001';
export const PRODUCT_URL = 'https://product.example.com';

/** Overrides of a valid assertion; null removes a claim. */
export interface AssertionSettings {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export class ProductKey {
  readonly pem: string;
  readonly jwk: JWK;
  readonly privateKey: KeyObject;

  constructor(private readonly alg: 'EdDSA' | 'Ed25519' | 'ES256' = 'EdDSA') {
    const { privateKey, publicKey } =
      alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    this.privateKey = privateKey;
    this.pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.jwk = publicKey.export({ format: 'jwk' });
  }

  assertion(challenge: string, { header, claims }: AssertionSettings = {}): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const valid = { iss: PRODUCT_URL, aud: AUTH_URL, iat, sub: 'u1', challenge };
    const payload = Object.entries({ ...valid, ...claims }).filter(([, value]) => value !== null);
    return new SignJWT(Object.fromEntries(payload))
      .setProtectedHeader({ alg: this.alg, typ: 'login+jwt', ...header })
      .sign(this.privateKey);
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Keeps the claims, and replaces the header and the signature as an attacker could. */
export function forged(assertion: string, header: object, sign: (input: string) => string): string {
  const input = `${base64url({ typ: 'login+jwt', ...header })}.${assertion.split('.')[1]}`;
  return `${input}.${sign(input)}`;
}

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
