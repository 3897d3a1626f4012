import type { Response } from 'supertest';
import sharp from 'sharp';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { ClientKey } from '#test/support/keys.js';
import { NEW_CLIENT, CLIENT_CHANGES } from '../../src/api/schemas.js';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

afterAll(() => api.close());

const ANY = { 'If-Match': '*' };
const ROOMS = { name: 'Rooms', redirect_uris: ['https://rooms.example.com/callback'] };

type Body = Readonly<Record<string, unknown>>;

/** Returns the members of `body` that the schema of a request has. */
function accepted(body: Body, { properties = {} }: { readonly properties?: object }): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in properties));
}

function pathOf({ headers }: Response): string {
  return (headers['location'] ?? '').replace('/admin/v1', '');
}

const jwks = async () => ({ keys: [(await ClientKey.generate()).jwk] });

describe('an application', () => {
  it.each<[string, () => Promise<object>]>([
    [
      'with a secret',
      async () => ({ contacts: ['rooms@example.com'], optional_scopes: [], subject: 'pairwise' }),
    ],
    [
      'with keys',
      async () => ({ jwks: await jwks(), dpop_bound_access_tokens: true, refresh_token_rotation: false }),
    ],
    ['of a device', async () => ({ type: 'public', device_grant: true, redirect_uris: [] })],
    ['of FAPI 2.0', async () => ({ jwks: await jwks(), profile: 'fapi2' })],
    [
      'of a program',
      async () => ({
        jwks: await jwks(),
        grant_type: 'client_credentials',
        scopes: ['admin:read'],
        redirect_uris: [],
      }),
    ],
  ])('can be sent back as it was read: %s', async (_, members) => {
    const created = await api.call('post', '/clients', { body: { ...ROOMS, ...(await members()) } });
    const { body: read } = await api.call('get', pathOf(created));
    const copy = await api.call('post', '/clients', { body: accepted(read, NEW_CLIENT) });
    expect([copy.status, accepted(copy.body, NEW_CLIENT)]).toEqual([201, accepted(read, NEW_CLIENT)]);
    const same = await api.call('patch', pathOf(created), {
      body: accepted(read, CLIENT_CHANGES),
      headers: ANY,
    });
    expect([same.status, same.body]).toEqual([200, { ...read, version: read.version + 1 }]);
  });

  it('by which operators log in is locked out of the console only with a confirmation', async () => {
    const callback = `${api.console.configuration.CONSOLE_URL}/login/callback`;
    const scopes = ['openid', 'profile', 'email'];
    const login = { name: 'Console', redirect_uris: [callback], scopes };
    const path = pathOf(await api.call('post', '/clients', { body: login }));
    const patch = (body: Body) => api.call('patch', path, { headers: ANY, body });
    const outcome = ({ status, body }: Response) => [status, body.id];
    for (const refused of [
      await patch({ redirect_uris: ROOMS.redirect_uris }),
      await patch({ add_redirect_uris: ROOMS.redirect_uris, remove_redirect_uris: [callback] }),
      await patch({ remove_scopes: ['email'] }),
      await patch({ require_par: true }),
      await api.call('post', `${path}/disable`, { headers: ANY }),
      await api.call('post', `${path}/disable`, { headers: ANY, body: { confirm_console: false } }),
      await api.call('delete', path, { headers: ANY }),
      await api.call('delete', `${path}?confirm_console=false`, { headers: ANY }),
    ])
      expect(outcome(refused)).toEqual([409, 'confirm_console']);
    expect((await api.call('get', path)).body).toMatchObject({ ...login, version: 1 });
    expect((await patch({ name: 'Operators', add_redirect_uris: ROOMS.redirect_uris })).status).toBe(200);
    const body = { confirm_console: true };
    expect((await api.call('post', `${path}/disable`, { headers: ANY, body })).status).toBe(200);
    expect((await patch({ remove_scopes: ['email'], ...body })).status).toBe(200);
    expect((await api.call('delete', `${path}?confirm_console=true`, { headers: ANY })).status).toBe(204);
  });

  it('has every member that a request may have', async () => {
    const created = await api.call('post', '/clients', { body: ROOMS });
    const settable = Object.keys({ ...NEW_CLIENT.properties, ...CLIENT_CHANGES.properties }).filter(
      (name) => !/^(?:add|remove|confirm)_/.test(name) && name !== 'metadata_url',
    );
    expect(Object.keys(created.body)).toEqual(expect.arrayContaining(settable));
  });

  it('is listed with up to 1,000 others in one response', async () => {
    await api.console.sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris, scopes)
       SELECT 'many_' || n, 'Many ' || n, 'confidential', '{https://app.example.com/callback}', '{profile:read}'
       FROM generate_series(1, 1001) AS n`,
    );
    const { status, body } = await api.call('get', '/clients?search=Many&limit=1000');
    expect([status, body.items.length]).toEqual([200, 1000]);
    const rest = await api.call('get', `/clients?search=Many&limit=1000&cursor=${body.next}`);
    expect([rest.body.items.length, rest.body.next]).toEqual([1, null]);
  });

  it('has a hand-over without a secret', async () => {
    const created = await api.call('post', '/clients', { body: ROOMS });
    const { body } = await api.call('get', `${pathOf(created)}/handover?secret_delivery=by%20courier`);
    expect(body.markdown).toContain('by courier');
    expect(body.markdown).not.toContain(created.body.client_secret);
  });
});

describe('the logo of an application', () => {
  const png = (size: number) =>
    sharp({ create: { width: size, height: size, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();

  it('is created, read, replaced and removed', async () => {
    const path = `${pathOf(await api.call('post', '/clients', { body: ROOMS }))}/logo`;
    const put = (body: Buffer, headers: Readonly<Record<string, string>>) =>
      api.call('put', path, { body, headers: { 'Content-Type': 'image/png', ...headers } });
    const [small, large] = [await png(16), await png(64)];
    const created = await put(small, { 'If-None-Match': '*' });
    expect([created.status, pathOf(created)]).toEqual([201, path]);
    expect((await put(small, { 'If-None-Match': '*' })).status).toBe(412);
    const read = await api.call('get', path);
    expect([read.headers['content-type'], read.headers['etag']]).toEqual([
      'image/png',
      created.headers['etag'],
    ]);
    expect(read.body).toEqual(small);
    const unchanged = await api.call('get', path, {
      headers: { 'If-None-Match': read.headers['etag'] ?? '' },
    });
    expect(unchanged.status).toBe(304);
    const replaced = await put(large, { 'If-Match': read.headers['etag'] ?? '' });
    expect(replaced.status).toBe(204);
    expect((await put(small, { 'If-Match': read.headers['etag'] ?? '' })).status).toBe(412);
    expect((await api.call('get', path)).body).toEqual(large);
    expect(
      (await api.call('delete', path, { headers: { 'If-Match': replaced.headers['etag'] ?? '' } })).status,
    ).toBe(204);
    expect((await api.call('get', path)).status).toBe(404);
  });
});

describe('a logo that is too large', () => {
  it('is refused with the permitted size', async () => {
    const path = `${pathOf(await api.call('post', '/clients', { body: ROOMS }))}/logo`;
    const headers = { 'Content-Type': 'image/png', 'If-None-Match': '*' };
    const refused = await api.call('put', path, { body: Buffer.alloc(MAX_LOGO_BYTES + 1), headers });
    expect([refused.status, refused.body.detail]).toEqual([413, expect.stringContaining('128 KiB')]);
  });
});

describe('a resource server', () => {
  it('can be changed, and its keys can be read back', async () => {
    const created = await api.call('post', '/resource-servers', { body: { name: 'Bookings API' } });
    expect(created.body.secret).toMatch(/^scs_/);
    const path = pathOf(created);
    const headers = { 'If-Match': created.headers['etag'] ?? '' };
    const { use: _, ...key } = (await ClientKey.generate()).jwk;
    const keys = { keys: [key] };
    const changed = await api.call('patch', path, { body: { name: 'Rooms API', jwks: keys }, headers });
    expect(changed.body).toMatchObject({ name: 'Rooms API', jwks: keys, auth_method: 'private_key_jwt' });
    expect((await api.call('get', path)).headers['etag']).toBe(changed.headers['etag']);
    expect((await api.call('patch', path, { body: { name: 'Other' }, headers })).status).toBe(412);
    const { body } = await api.call('get', '/events?types=resource_server.updated');
    expect(body.items).toMatchObject([
      { channel: 'api', changes: { name: { old: 'Bookings API', new: 'Rooms API' } } },
    ]);
  });
});

it('the scopes of the file can be read, and the ETag changes only with the file', async () => {
  const { body, headers } = await api.call('get', '/scopes');
  const [{ name }] = body.items as [{ name: string }];
  expect((await api.call('get', `/scopes/${encodeURIComponent(name)}`)).body).toEqual(body.items[0]);
  const again = await api.call('get', '/scopes', { headers: { 'If-None-Match': headers['etag'] ?? '' } });
  expect(again.status).toBe(304);
});

describe('an operator', () => {
  const put = (id: number, body: object) => api.call('put', `/operators/${id}`, { body });

  it('gets, changes and loses a role, and the last admin only with a confirmation', async () => {
    const [ada, grace] = [await api.fixture.user(), await api.fixture.user()];
    expect((await put(ada, { role: 'admin' })).body).toMatchObject({ user_id: ada, role: 'admin' });
    expect((await put(grace, { role: 'viewer' })).body.role).toBe('viewer');
    expect((await api.call('get', '/operators')).body.items).toHaveLength(2);
    for (const refused of [
      await put(ada, { role: 'viewer' }),
      await api.call('delete', `/operators/${ada}`),
      await api.call('post', `/users/${ada}/disable`, { headers: ANY }),
      await api.call('delete', `/users/${ada}`, { headers: ANY }),
    ])
      expect([refused.status, refused.body.id]).toEqual([409, 'confirm_last_admin']);
    expect((await put(ada, { role: 'owner' })).body.errors).toMatchObject([{ pointer: '#/role' }]);
    expect((await put(ada, { role: 'viewer', confirm_last_admin: true })).body.role).toBe('viewer');
    expect((await api.call('delete', `/operators/${ada}`)).status).toBe(204);
    expect((await api.call('get', `/operators/${ada}`)).status).toBe(404);
    expect((await api.call('get', `/operators/${grace}`)).body.role).toBe('viewer');
  });

  it('can be invited, until the invitation is withdrawn', async () => {
    const body = { email: 'katherine@example.com', role: 'support' };
    const created = await api.call('post', '/operator-invitations', { body });
    const read = await api.call('get', pathOf(created));
    expect([created.body, created.headers['etag']]).toEqual([read.body, read.headers['etag']]);
    expect(read.body).toMatchObject({ ...body, invited_by: expect.stringContaining(api.clientId) });
    expect((await api.call('delete', pathOf(created))).status).toBe(204);
    expect((await api.call('get', '/operator-invitations')).body.items).toEqual([]);
  });
});
