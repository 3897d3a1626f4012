import type autocannon from 'autocannon';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import type { Case } from '../load.js';
import type { Product } from '../product.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (path: string, fields: Readonly<Record<string, string>>): autocannon.Request => ({
  method: 'POST',
  path,
  headers: FORM,
  body: new URLSearchParams(fields).toString(),
});

export class Tokens {
  readonly codes: string[] = [];
  readonly refresh: string[] = [];
  /** Access tokens that the API has not cached. */
  readonly access: string[] = [];

  keep(body: string): void {
    const { access_token, refresh_token } = JSON.parse(body) as Record<string, string>;
    if (access_token) this.access.push(access_token);
    if (refresh_token) this.refresh.push(refresh_token);
  }
}

export async function tokenCases(
  { baseUrl: url, fixture }: Product,
  client: TestClient,
  tokens: Tokens,
): Promise<Record<'redeem' | 'refresh' | 'forged' | 'introspect' | 'par' | 'metadata' | 'revoke', Case>> {
  const { secret, hash } = generateClientSecret();
  const server = await fixture.resourceServers.create('bench', hash);
  const redirect = { redirect_uri: REDIRECT_URI };
  const keep = (body: string) => tokens.keep(body);
  const refreshing = (refresh_token: string) =>
    post('/api/auth/oauth/token', { grant_type: 'refresh_token', refresh_token, ...client });
  return {
    redeem: {
      name: 'code to tokens',
      url,
      status: 200,
      most: () => tokens.codes.length,
      next: () =>
        post('/api/auth/oauth/token', {
          grant_type: 'authorization_code',
          code: tokens.codes.pop() ?? '',
          ...redirect,
          ...client,
        }),
      answered: keep,
    },
    refresh: {
      name: 'refresh',
      url,
      status: 200,
      // Uses the oldest token first, so that concurrent requests refresh different grants.
      next: () => refreshing(tokens.refresh.shift() ?? ''),
      answered: keep,
    },
    forged: {
      name: 'refresh, forged token',
      url,
      status: 400,
      next: () => refreshing(`srt_${'A'.repeat(84)}`),
    },
    introspect: {
      name: '`introspect`',
      url,
      status: 200,
      next: () =>
        post('/api/auth/oauth/introspect', {
          token: tokens.access[0] ?? '',
          client_id: server.id,
          client_secret: secret,
        }),
    },
    par: {
      name: '`par`',
      url,
      status: 201,
      // Below the limit of pushed requests per client (par.service.ts).
      most: () => 30_000,
      next: () =>
        post('/api/auth/oauth/par', { response_type: 'code', state: 'bench', ...redirect, ...client }),
    },
    metadata: {
      name: 'metadata',
      url,
      status: 200,
      next: () => ({ method: 'GET', path: '/.well-known/oauth-authorization-server' }),
    },
    revoke: {
      name: '`revoke`',
      url,
      status: 200,
      most: () => Math.min(tokens.refresh.length, 1500),
      next: () => post('/api/auth/oauth/revoke', { token: tokens.refresh.pop() ?? '', ...client }),
    },
  };
}
