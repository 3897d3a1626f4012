import type autocannon from 'autocannon';
import type { Case } from './measure.js';
import type { Product } from './product.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { randomBytes } from 'node:crypto';
import { hashPassword } from '#users/password.js';
import { findForm, type PageForm } from '#local/demo/html-form.js';
import { Browser } from '#test/support/browser.js';

type Name = 'start' | 'loginPage' | 'login' | 'consent' | 'allow' | 'remembered' | 'apps';

/** Number of grants per user and client in 24 hours after which the consent page is shown again. */
const REMEMBERED_A_DAY = 100;

/** Sends successive requests for different users, because no real user has thousands of grants. */
export function authorizeCases(
  { authUrl: url }: Product,
  clientId: string,
  people: readonly Person[],
): Record<Name, Case> {
  const path = ({ pathname, search }: URL) => `${pathname}${search}`;
  const inTurn = (request: (person: Person) => autocannon.Request) => {
    let turn = 0;
    return () => {
      const person = people[turn++ % people.length];
      return person ? request(person) : {};
    };
  };
  const form = (action: URL, cookie: string, body: string): autocannon.Request => ({
    method: 'POST',
    path: path(action),
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  const get = (target: string, headers = {}): autocannon.Request => ({
    method: 'GET',
    path: target,
    headers,
  });
  return {
    start: {
      name: 'authorize, without a session',
      url,
      status: 303,
      next: () => get(authorizationPath(clientId)),
    },
    loginPage: {
      name: 'login page',
      url,
      status: 200,
      next: inTurn(({ login }) => get(path(login.form.action), { cookie: login.cookie })),
    },
    login: {
      name: 'login',
      url,
      status: 200,
      next: inTurn(({ login }) => form(login.form.action, login.cookie, login.body)),
    },
    consent: {
      name: 'consent page',
      url,
      status: 200,
      next: inTurn(({ session }) => get(authorizationPath(clientId, 'consent'), { cookie: session.cookie })),
    },
    allow: {
      name: '_Allow_',
      url,
      status: 200,
      most: () => 15 * people.length,
      next: inTurn(({ session: { consent, cookie } }) =>
        form(
          consent.action,
          cookie,
          new URLSearchParams({ ...consent.fields, decision: 'allow' }).toString(),
        ),
      ),
    },
    remembered: {
      name: 'authorize, allowed before',
      url,
      status: 303,
      most: () => (REMEMBERED_A_DAY - 30) * people.length,
      next: inTurn(({ session }) => get(authorizationPath(clientId), { cookie: session.cookie })),
    },
    apps: {
      name: '`/auth/apps`',
      url,
      status: 200,
      next: inTurn(({ session }) => get('/auth/apps', { cookie: session.cookie })),
    },
  };
}

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

export function resourceCases(
  { apiUrl: url }: Product,
  tokens: Tokens,
): Record<'known' | 'unknown' | 'forgedAtApi', Case> {
  const me = (token: string) =>
    ({ method: 'GET', path: '/v2/me', headers: { authorization: `Bearer ${token}` } }) as const;
  const [known = ''] = tokens.access.splice(0, 1);
  return {
    known: { name: '`/v2/me`, known token', url, status: 200, next: () => me(known) },
    unknown: {
      name: '`/v2/me`, unknown token',
      url,
      status: 200,
      most: () => Math.min(tokens.access.length, 8000),
      next: () => me(tokens.access.pop() ?? ''),
    },
    forgedAtApi: {
      name: '`/v2/me`, forged token',
      url,
      status: 401,
      next: () => me(`sat_${'A'.repeat(84)}`),
    },
  };
}

const PASSWORD = randomBytes(12).toString('base64url');
let passwordHash: Promise<string> | undefined;

export interface Person {
  /** Can be submitted any number of times. */
  readonly login: { readonly form: PageForm; readonly cookie: string; readonly body: string };
  readonly session: { readonly consent: PageForm; readonly cookie: string };
}

export function authorizationPath(clientId: string, prompt?: string): string {
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 'bench' });
  if (prompt) query.set('prompt', prompt);
  return `/auth/oauth2/authorize?${query.toString()}`;
}

export async function newPerson({ authUrl, fixture }: Product, clientId: string): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD);
  const username = `bench${randomBytes(6).toString('hex')}`;
  const email = `${username}@example.com`;
  await fixture.users.create({ email, username, name: 'Bench', passwordHash: await passwordHash });

  const browser = new Browser(authUrl);
  const start = new URL(authorizationPath(clientId, 'consent'), authUrl);
  const loginUrl = new URL((await browser.get(start)).headers['location'] ?? '', start);
  const form = findForm((await browser.get(loginUrl)).text, loginUrl, 'password');
  const before = browser.cookies.header() ?? '';
  const fields = { ...form.fields, username, password: PASSWORD };
  await browser.post(form.action, fields);
  const consent = findForm((await browser.get(start)).text, start, 'decision=allow');
  return {
    login: { form, cookie: before, body: new URLSearchParams(fields).toString() },
    session: { consent, cookie: browser.cookies.header() ?? '' },
  };
}
