import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import request from 'supertest';
import type { Browser } from '#test/support/browser.js';
import { ClientKey } from '#test/support/keys.js';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';

interface Described {
  readonly operationId: string;
  readonly security: readonly { readonly accessToken?: readonly string[] }[];
}

const { paths } = JSON.parse(readFileSync('apps/console/src/openapi/openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};

/** Operations that need a token. */
const OPERATIONS = Object.entries(paths).flatMap(([template, item]) =>
  Object.entries(item)
    .filter(([, { security }]) => security.length > 0)
    .map(([method, { operationId, security }]) => {
      const path = template.replace('/admin/v1', '').replaceAll(/\{\w+\}/g, '1');
      return { id: operationId, method, path, scope: security[0]?.accessToken?.[0] ?? '' };
    }),
);

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

afterEach(async () => {
  await api.console.resetRateLimits();
});

afterAll(() => api.close());

/** Returns a browser in which an admin is logged in. */
async function admin(): Promise<Browser> {
  const name = `ada${randomInt(1e9)}`;
  const { body: user } = await api.call('post', '/users', {
    body: { username: name, email: `${name}@example.com`, name: 'Ada' },
  });
  await api.console.sql("UPDATE users SET console_role = 'admin' WHERE id = $1", [user.id]);
  const browser = api.console.browser();
  await api.console.logIn(browser, { sub: String(user.id) });
  return browser;
}

/** Calls every operation. @returns the status by operation id */
async function walk(send: (method: string, path: string) => Promise<{ status: number }>) {
  const found: Record<string, number> = {};
  for (const [index, { id, method, path }] of OPERATIONS.entries()) {
    // More operations than requests without a valid token that an address may send in a minute.
    if (index % 50 === 49) await api.console.resetRateLimits();
    found[id] = (await send(method, path)).status;
  }
  return found;
}

const all = (status: number) => Object.fromEntries(OPERATIONS.map(({ id }) => [id, status]));

describe('every operation', () => {
  it('requires admin:read for GET, admin:operators to change operators, and admin:write for every other change', () => {
    expect(OPERATIONS.length).toBeGreaterThan(25);
    for (const { method, scope, path } of OPERATIONS) {
      const change = path.startsWith('/operator') ? 'admin:operators' : 'admin:write';
      expect([path, scope]).toEqual([path, method === 'get' ? 'admin:read' : change]);
    }
  });

  it.each<[string, () => Promise<string | null>]>([
    ['a request without a token', async () => null],
    ['an unknown token', async () => `sat_${'x'.repeat(86)}`],
    ['a token for another API', () => api.tokenForOtherApi()],
    ['a user’s token', () => api.tokenOfUser()],
    ['a user’s token for this API', () => api.tokenOfUser(api.console.configuration.CONSOLE_URL)],
  ])('refuses %s', async (_, make) => {
    const token = await make();
    expect(await walk((method, path) => api.call(method, path, { token }))).toEqual(all(401));
  });

  it('refuses a token without the required scope', async () => {
    const scopes = ['admin:read', 'admin:write', 'admin:operators'];
    for (const required of scopes) {
      const { accessToken: token } = await api.registerClient(
        scopes.filter((one) => one !== required).join(' '),
      );
      for (const { id, method, path, scope } of OPERATIONS) {
        if (scope !== required) continue;
        const { status } = await api.call(method, path, { token });
        expect([id, status]).toEqual([id, 403]);
      }
      await api.console.resetRateLimits();
    }
  });

  it('ignores the session of an operator', async () => {
    const operator = await admin();
    expect((await operator.get('/users')).status).toBe(200);
    const Cookie = operator.cookies.header() ?? '';
    const send = (method: string, path: string) =>
      api.call(method, path, { token: null, headers: { Cookie } });
    expect(await walk(send)).toEqual(all(401));
  });
});

describe('without admin:operators, a client with admin:write', () => {
  let token: string;
  let keys: ClientKey;
  let apiClient: (scope: string) => object;
  const ANY = { 'If-Match': '*' };

  beforeAll(async () => {
    token = (await api.registerClient('admin:read admin:write')).accessToken;
    keys = await ClientKey.generate();
    apiClient = (scope) => ({
      name: scope,
      grant_type: 'client_credentials',
      jwks: { keys: [keys.jwk] },
      scopes: [scope],
    });
  });

  it('cannot take the role of an operator away to get the password', async () => {
    const { body: user } = await api.call('post', '/users', {
      body: { username: 'dorothy', email: 'dorothy@example.com', name: 'Dorothy' },
    });
    await api.call('put', `/operators/${user.id}`, { body: { role: 'admin' } });
    expect((await api.call('delete', `/operators/${user.id}`, { token })).status).toBe(403);
    const change = await api.call('post', `/users/${user.id}/password`, { token, headers: ANY });
    expect([change.status, change.body.password]).toEqual([409, undefined]);
  });

  const refusal = ({ status, body }: { status: number; body: { id?: string } }) => [status, body.id];
  const REFUSED = [403, 'operators_scope_required'];

  it('cannot register an API client', async () => {
    const body = apiClient('admin:read');
    expect(refusal(await api.call('post', '/clients', { token, body }))).toEqual(REFUSED);
    expect((await api.call('post', '/clients', { body })).status).toBe(201);
  });

  it.each([
    ['its own scopes', 'patch', '', { scopes: ['admin:read'] }],
    ['its own name', 'patch', '', { name: 'Reader' }],
    ['its own keys', 'patch', '', { jwks_uri: 'https://keys.example.com/jwks' }],
    ['itself', 'delete', '', undefined],
    ['itself', 'post', '/disable', {}],
    ['itself', 'post', '/enable', undefined],
    ['its own secrets', 'post', '/secrets', undefined],
  ])('cannot change %s (%s %s)', async (_, method, action, body) => {
    const own = await api.registerClient('admin:read admin:write');
    const other = (await api.call('post', '/clients', { body: apiClient('admin:read') })).body
      .client_id as string;
    for (const id of [own.clientId, other]) {
      const send = { token: own.accessToken, headers: ANY, ...(body && { body }) };
      expect(refusal(await api.call(method, `/clients/${id}${action}`, send))).toEqual(REFUSED);
    }
  });

  it('cannot change, delete or replace the application by which operators log in', async () => {
    const redirectUri = `${api.console.configuration.CONSOLE_URL}/login/callback`;
    const register = (uri: string) => ({ name: 'Console', redirect_uris: [uri], scopes: ['openid'] });
    const { body: created } = await api.call('post', '/clients', { body: register(redirectUri) });
    const { body: other } = await api.call('post', '/clients', {
      body: register('https://rooms.example.com/callback'),
    });
    const refused: [string, string, object?][] = [
      ['post', '/clients', register(redirectUri)],
      ['patch', `/clients/${other.client_id}`, { add_redirect_uris: [redirectUri] }],
      ['patch', `/clients/${created.client_id}`, { name: 'Rooms', confirm_console: true }],
      ['post', `/clients/${created.client_id}/disable`, { confirm_console: true }],
      ['post', `/clients/${created.client_id}/secrets`],
      ['delete', `/clients/${created.client_id}/secrets/${created.secret_id}?force=true`],
      ['delete', `/clients/${created.client_id}?confirm_console=true`],
    ];
    for (const [method, path, body] of refused) {
      const headers = path === '/clients' ? {} : ANY;
      const answer = await api.call(method, path, { token, headers, ...(body && { body }) });
      expect([path, refusal(answer)]).toEqual([path, REFUSED]);
    }
    expect(
      (
        await api.call('patch', `/clients/${other.client_id}`, {
          token,
          headers: ANY,
          body: { name: 'Rooms' },
        })
      ).status,
    ).toBe(200);
    const { body: removed } = await api.call('delete', `/clients/${created.client_id}?confirm_console=true`, {
      headers: ANY,
    });
    expect(removed).toEqual({});
  });

  it.each(['viewer', 'support', 'admin'])('cannot change a user with the role %s', async (role) => {
    const username = `user${randomInt(1e9)}`;
    const { body: user } = await api.call('post', '/users', {
      body: { username, email: `${username}@example.com`, name: 'Grace' },
    });
    await api.call('put', `/operators/${user.id}`, { body: { role } });
    const refused: [string, string, object?][] = [
      ['patch', '', { locale: 'de' }],
      ['post', '/logout'],
      ['post', '/disable', { confirm_last_admin: true }],
      ['post', '/enable', {}],
      ['delete', '?confirm_last_admin=true'],
    ];
    for (const [method, action, body] of refused) {
      const send = { token, headers: ANY, ...(body && { body }) };
      expect([action, refusal(await api.call(method, `/users/${user.id}${action}`, send))]).toEqual([
        action,
        REFUSED,
      ]);
    }
    const logOut = () => api.call('post', `/users/${user.id}/logout`, { token, headers: ANY });
    await api.call('delete', `/operators/${user.id}?confirm_last_admin=true`);
    expect((await logOut()).status).toBe(200);
  });
});

it('the API does not set the password of a user with a role in the console', async () => {
  const { body: user } = await api.call('post', '/users', {
    body: { username: 'katherine', email: 'katherine@example.com', name: 'Katherine' },
  });
  const change = () =>
    api.call('post', `/users/${user.id}/password`, { headers: { 'If-Match': '*' }, body: {} });
  expect((await change()).status).toBe(200);
  await api.console.sql("UPDATE users SET console_role = 'admin' WHERE id = $1", [user.id]);
  const refused = await change();
  expect([refused.status, refused.body.errors[0].id]).toEqual([409, 'user_is_operator']);
});

it('the API sets no password for an address that is invited to the console', async () => {
  const guest = (username: string) => ({ username, email: `${username}@example.com`, name: 'Guest' });
  const { body: user } = await api.call('post', '/users', { body: guest('joan') });
  for (const email of ['Joan@example.com', 'mary@example.com'])
    await api.call('post', '/operator-invitations', { body: { email, role: 'admin' } });
  const change = await api.call('post', `/users/${user.id}/password`, {
    headers: { 'If-Match': '*' },
    body: {},
  });
  const creation = await api.call('post', '/users', { body: guest('mary') });
  for (const refused of [change, creation])
    expect([refused.status, refused.body.errors[0].id]).toEqual([409, 'user_is_operator']);
});

it('the API runs at most four concurrent reports of each API client', async () => {
  const other = await api.registerClient('admin:read');
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => api.call('get', '/doctor')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  const [own, others] = await Promise.all([
    api.call('get', '/doctor'),
    api.call('get', '/doctor', { token: other.accessToken }),
  ]);
  expect([own.status, others.status]).toEqual([200, 200]);
});

describe('a caller with four running searches of the audit trail', () => {
  let database: pg.Client;

  beforeEach(async () => {
    database = new pg.Client({ connectionString: api.services.databaseUrl });
    await database.connect();
    await database.query('BEGIN');
    await database.query('LOCK TABLE audit_chunks');
  });

  afterEach(() => database.end());

  it.each([
    ['/admin/v1/events', '/admin/v1/explanations/abcdefghijkl', '/admin/v1/clients/CLIENT/refusals'],
    ['/audit', '/events?reference=abcdefghijkl', '/events?client=CLIENT'],
  ])('cannot start a fifth search: %s', async (...paths) => {
    const operator = await admin();
    const read = (path: string) =>
      path.startsWith('/admin/v1') ? api.call('get', path.slice('/admin/v1'.length)) : operator.get(path);
    const answers = [0, 1, 2, 3, 4].map((n) =>
      read((paths[n % paths.length] ?? '').replace('CLIENT', api.clientId)),
    );
    const refused = await Promise.race(answers);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    await database.query('ROLLBACK');
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});

it('a page ignores an access token', async () => {
  const { accessToken } = await api.registerClient();
  const page = await request(api.console.server)
    .get('/applications')
    .set('Authorization', `Bearer ${accessToken}`);
  expect([page.status, page.headers['location']]).toEqual([303, '/login?page=%2Fapplications']);
});

it('the API refuses a token of a disabled API client', async () => {
  const { clientId, accessToken } = await api.registerClient();
  expect((await api.call('get', '/clients', { token: accessToken })).status).toBe(200);
  expect(
    (await api.call('post', `/clients/${clientId}/disable`, { headers: { 'If-Match': '*' } })).status,
  ).toBe(200);
  expect((await api.call('get', '/clients', { token: accessToken })).status).toBe(401);
});

it('a response with the status 401 has a challenge (RFC 6750) and no CORS headers', async () => {
  const refused = await api.call('get', '/clients', {
    token: null,
    headers: { Origin: 'https://evil.example' },
  });
  expect(refused.headers['www-authenticate']).toMatch(/^Bearer realm="oauth", scope="admin:read"/);
  expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(refused.headers['access-control-allow-origin']).toBeUndefined();
  expect((await api.call('options', '/clients')).headers['access-control-allow-methods']).toBeUndefined();
});

it('the API rejects a form body, which other sites can send', async () => {
  const form = await request(api.console.server)
    .post('/admin/v1/clients')
    .set('Authorization', `Bearer ${(await api.registerClient()).accessToken}`)
    .type('form')
    .send('name=Rooms');
  expect(form.status).toBe(415);
});

it('the audit trail names the API client and the channel of a change', async () => {
  const created = await api.call('post', '/users', {
    body: { email: 'grace@example.com', username: 'grace', name: 'Grace Hopper' },
  });
  expect(created.status).toBe(201);
  const { body } = await api.call('get', `/events?types=user.created&user=id:${created.body.id}`);
  expect(body.items).toMatchObject([{ operator: `Terraform (${api.clientId})`, channel: 'api' }]);
});

it('the API limits the requests of each client and the failed authentications from each address', async () => {
  const { accessToken } = await api.registerClient();
  const first = await api.call('get', '/resource-servers', { token: accessToken });
  expect(first.headers['ratelimit']).toMatch(/^"api";r=599;t=\d+$/);
  for (const key of await api.console.redis.keys('console:rate:api:*'))
    await api.console.redis.set(key, 600, 'KEEPTTL');
  const refused = await api.call('get', '/resource-servers', { token: accessToken });
  expect([refused.status, refused.body.status]).toEqual([429, 429]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await api.call('get', '/clients', { token: 'wrong' })).status).toBe(401);
  for (const key of await api.console.redis.keys('console:rate:unauth*'))
    await api.console.redis.set(key, 60, 'KEEPTTL');
  expect((await api.call('get', '/clients', { token: 'wrong' })).status).toBe(429);
});
