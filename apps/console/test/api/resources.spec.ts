import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import request from 'supertest';
import { auditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { startDocumentHost } from '#test/support/document-host.js';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';
import { HOSTILE_NAME, stateOf, storeRequest } from '../support/stored-request.js';

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

afterAll(() => api.close());

it('the address of an application encodes a client_id that is a URL', async () => {
  const host = await startDocumentHost();
  const url = host.publish(host.newUrl());
  const created = await api.call('post', '/clients', { body: { metadata_url: url } });
  host.close();
  const path = (created.headers['location'] ?? '').replace('/admin/v1', '');
  expect((await api.call('get', path)).body).toMatchObject({ client_id: url });
});

const ANY = { 'If-Match': '*' };
const CALLBACK = 'https://rooms.example.com/callback';

it('the API manages an application from its registration to its deletion', async () => {
  const registration = {
    name: 'Rooms',
    type: 'confidential',
    redirect_uris: [CALLBACK],
    scopes: ['profile:read'],
  };
  const created = await api.call('post', '/clients', { body: registration });
  const path = (created.headers['location'] ?? '').replace('/admin/v1', '');
  const read = await api.call('get', path);
  expect(read.body).toMatchObject({ ...registration, client_id: created.body.client_id });
  expect([created.status, created.headers['etag']]).toEqual([201, read.headers['etag']]);
  expect(created.body).toMatchObject(read.body);
  const secret = `${path}/secrets/${created.body.secret_id}`;
  expect((await api.call('get', secret)).body.id).toBe(created.body.secret_id);
  const changes = { client_uri: 'https://rooms.example.com', require_par: true };
  expect((await api.call('patch', path, { body: changes, headers: ANY })).body).toMatchObject(changes);
  const merged = { ...ANY, 'Content-Type': 'application/merge-patch+json' };
  expect(
    (await api.call('patch', path, { body: { client_uri: null }, headers: merged })).body.client_uri,
  ).toBeNull();
  expect((await api.call('post', `${path}/disable`, { headers: ANY })).body.disabled).toBe(true);
  expect((await api.call('post', `${path}/enable`, { headers: ANY })).body.disabled).toBe(false);
  expect((await api.call('get', `${path}/refusals`)).body.refused).toBe(0);
  expect((await api.call('delete', path, { headers: ANY })).status).toBe(204);
  expect((await api.call('get', path)).status).toBe(404);
});

// @deviation D32
it('the API admits a private-use scheme, with a warning, but not the scheme of browsers', async () => {
  const registration = { name: 'Cursor', type: 'public', redirect_uris: ['cursor://mcp/callback'] };
  const post = (private_schemes: string[]) =>
    api.call('post', '/clients', { body: { ...registration, private_schemes } });
  const created = await post(['cursor']);
  expect([created.status, created.body.warnings]).toEqual([201, [expect.stringContaining('cursor://mcp')]]);
  const path = `/clients/${created.body.client_id}`;
  expect((await api.call('get', path)).body.private_schemes).toEqual(['cursor']);
  expect((await post(['vscode'])).status).toBe(400);
  expect((await post(['cursor', 'javascript'])).status).toBe(400);
  expect((await api.call('patch', path, { body: { private_schemes: [] }, headers: ANY })).status).toBe(400);
});

it('the API revokes the last secret of an application only with force', async () => {
  const { client_id: id } = await api.fixture.client();
  const created = await api.call('post', `/clients/${id}/secrets`, { headers: ANY });
  expect(created.body.client_secret).toMatch(/^scs_/);
  const { body } = await api.call('get', `/clients/${id}/secrets`);
  const [first, second] = (body.secrets as { id: string }[]).map(
    (secret) => `/clients/${id}/secrets/${secret.id}`,
  );
  expect(created.headers['location']).toBe(`/admin/v1${second}`);
  const read = await api.call('get', second ?? '');
  expect(created.body).toMatchObject(read.body);
  expect(created.headers['etag']).toBe(read.headers['etag']);
  expect((await api.call('delete', first ?? '', { headers: ANY })).status).toBe(204);
  expect((await api.call('delete', second ?? '', { headers: ANY })).status).toBe(409);
  expect((await api.call('delete', `${second}?force=true`, { headers: ANY })).status).toBe(204);
});

it('the API refuses to revoke the last secret of the application by which operators log in, and names the console', async () => {
  const redirectUris = [`${api.console.configuration.CONSOLE_URL}/login/callback`];
  const login = { name: 'Console', redirect_uris: redirectUris, scopes: ['openid'] };
  const { body } = await api.call('post', '/clients', { body: login });
  const path = `/clients/${body.client_id}/secrets/${body.secret_id}`;
  const refused = await api.call('delete', path, { headers: ANY });
  expect(refused.body).toMatchObject({
    id: 'last_live_secret',
    detail: expect.stringContaining('CONSOLE_CLIENT_SECRET'),
  });
});

it('the address of a secret encodes the client_id of an imported application', async () => {
  await api.console.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes)
     VALUES ('team/rooms', 'Rooms', 'confidential', $1, '{profile:read}')`,
    [[CALLBACK]],
  );
  const created = await api.call('post', '/clients/team%2Frooms/secrets', { headers: ANY });
  const path = (created.headers['location'] ?? '').replace('/admin/v1', '');
  expect(path).toMatch(/^\/clients\/team%2Frooms\/secrets\/[\w-]+$/);
  expect((await api.call('delete', `${path}?force=true`, { headers: ANY })).status).toBe(204);
});

it('the API manages a user from creation to deletion', async () => {
  const body = { email: 'ada@example.com', username: 'ada', name: 'Ada Lovelace' };
  const created = await api.call('post', '/users', { body });
  expect(created.body).toMatchObject({ ...body, password: expect.stringMatching(/^[\w-]{24}$/) });
  const path = (created.headers['location'] ?? '').replace('/admin/v1', '');
  const read = await api.call('get', path);
  expect(created.body).toMatchObject(read.body);
  expect(created.headers['etag']).toBe(read.headers['etag']);
  const changed = await api.call('patch', path, { body: { locale: 'de' }, headers: ANY });
  expect(changed.body).toEqual({ ...read.body, locale: 'de', version: read.body.version + 1 });
  expect((await api.call('post', `${path}/password`, { headers: ANY })).body.password).not.toBe(
    created.body.password,
  );
  expect((await api.call('post', `${path}/logout`, { headers: ANY })).body.logged_out).toBe(true);
  // Unavailable, because the authorize app is not running.
  expect((await api.call('get', `${path}/sessions`)).status).toBe(503);
  expect((await api.call('post', `${path}/disable`, { headers: ANY })).body.disabled).toBe(true);
  expect((await api.call('post', `${path}/enable`, { headers: ANY })).body.disabled).toBe(false);
  expect((await api.call('delete', path, { headers: ANY })).status).toBe(204);
  expect((await api.call('get', path)).status).toBe(404);
});

it('the API lists, reads and revokes grants', async () => {
  const { client_id: clientId } = await api.fixture.client();
  const userId = await api.fixture.user();
  for (let count = 0; count < 2; count++) await api.fixture.code(clientId, userId);
  const { body } = await api.call('get', `/grants?user=id:${userId}`);
  expect(body.items).toHaveLength(2);
  expect((await api.call('delete', `/grants/${body.items[0].id}`, { headers: ANY })).status).toBe(204);
  expect((await api.call('get', `/grants/${body.items[0].id}`)).body.state).toBe('revoked');
  expect((await api.call('post', '/grants/revoke', { body: { client: clientId } })).body.revoked_grants).toBe(
    1,
  );
  expect((await api.call('post', '/grants/revoke', { body: {} })).status).toBe(400);
  expect((await api.call('get', `/grants?client=${clientId}&ended=true`)).body.items).toHaveLength(2);
});

it('the API registers a receiver of events, never shows its header, and delivers an event again', async () => {
  const { client_id: clientId } = await api.fixture.client();
  const path = `/clients/${clientId}/event-stream`;
  expect((await api.call('get', path)).status).toBe(404);
  const receiver = { events_url: 'https://app.example.com/events', events: ['tokens-revoked'] };
  const body = { ...receiver, events_authorization: 'Bearer of-the-receiver' };
  const put = await api.call('put', path, { body });
  expect([put.status, put.body]).toEqual([200, expect.objectContaining({ ...receiver, status: 'enabled' })]);
  expect(JSON.stringify([put.body, (await api.call('get', path)).body])).not.toContain('of-the-receiver');
  const wrong = await api.call('put', path, { body: { ...receiver, events: ['logged-in'] } });
  expect([wrong.status, wrong.body.errors]).toEqual([
    400,
    [expect.objectContaining({ id: 'event_type_unknown' })],
  ]);
  const repeated = { ...receiver, events: Array.from({ length: 51 }, () => 'tokens-revoked') };
  expect((await api.call('put', path, { body: repeated })).status).toBe(400);
  expect((await api.call('post', `${path}/pause`)).body).toMatchObject({ status: 'paused' });
  const { body: waiting } = await api.call('get', `/event-deliveries?client=${clientId}&waiting=true`);
  const [{ jti }] = waiting.items as [{ jti: string }];
  expect((await api.call('get', `/event-deliveries/${jti}`)).body).toMatchObject({ type: 'stream-updated' });
  expect((await api.call('post', `/event-deliveries/${jti}/redeliver`)).status).toBe(409);
  await api.console.sql("UPDATE events SET outcome = 'delivered', finished_at = now() WHERE jti = $1", [jti]);
  expect((await api.call('post', `/event-deliveries/${jti}/redeliver`)).body).toMatchObject({
    state: 'waiting',
  });
  expect((await api.call('post', `${path}/enable`)).body).toMatchObject({ status: 'enabled' });
  expect((await api.call('delete', path)).status).toBe(204);
  expect((await api.call('get', path)).status).toBe(404);
});

it('the Link headers of a list lead through all pages, and back', async () => {
  for (let count = 0; count < 3; count++) await api.fixture.user();
  const read = async (path: string) => {
    const { headers, body } = await api.call('get', path);
    const links = (headers['link'] ?? '').matchAll(/<\/admin\/v1([^>]*)>; rel="(\w+)"/g);
    const { next, prev } = Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
    expect([next === undefined, prev === undefined]).toEqual([body.next === null, body.previous === null]);
    return { ids: (body.items as { id: number }[]).map(({ id }) => id), next, prev };
  };
  const pages = [await read('/users?limit=2')];
  for (let path = pages[0]?.next; path !== undefined; path = pages.at(-1)?.next) pages.push(await read(path));
  const back = [await read(pages.at(-1)?.prev ?? '')];
  for (let path = back[0]?.prev; path !== undefined; path = back.at(-1)?.prev) back.push(await read(path));
  expect(back.map(({ ids }) => ids)).toEqual(
    pages
      .slice(0, -1)
      .toReversed()
      .map(({ ids }) => ids),
  );
  const ids = pages.flatMap((page) => page.ids);
  const all = await api.console.sql<{ id: number }>('SELECT id FROM users ORDER BY created_at DESC, id DESC');
  expect(ids).toEqual(all.map(({ id }) => id));
  expect((await api.call('get', '/users?limit=1001')).body.errors).toMatchObject([{ parameter: 'limit' }]);
  expect((await api.call('get', '/clients?colour=red')).body.errors).toMatchObject([{ parameter: 'colour' }]);
});

it('the API reports events, findings and keys', async () => {
  expect((await api.call('get', '/explanations/AAAAAAAAAAAA')).status).toBe(404);
  expect((await api.call('get', '/events?limit=1')).body.items).toHaveLength(1);
  const { body } = await api.call('get', '/doctor?skip=addresses&skip=certificates&fail_on=warning');
  expect(body).toMatchObject({ passed: false, fail_on: 'warning' });
  expect(body.holding).toContain('keys-differ');
  const wrong = (await api.call('get', '/doctor?skip=everything&fail_on=never')).body;
  expect(wrong.errors).toMatchObject([{ parameter: 'skip' }, { parameter: 'fail_on' }]);
  expect((await api.call('get', '/keys')).body.keys).toHaveLength(1);
});

it('the API lists, reads and approves a request of an application owner', async () => {
  const stored = await storeRequest(api.console, { name: HOSTILE_NAME });
  const { body: queue } = await api.call('get', '/requests');
  expect(queue.items).toMatchObject([{ id: stored.id, client_id: stored.clientId, name: HOSTILE_NAME }]);
  const read = await api.call('get', `/requests/${stored.id}`);
  expect(read.body).toMatchObject({ status: 'submitted', content: { purpose: 'Keeps <b>notes</b>' } });
  expect((read.body.findings as { id: string; text: string }[]).map(({ id }) => id)).toContain(
    'redirect_host_elsewhere',
  );
  const approve = (match?: string) =>
    api.call('post', `/requests/${stored.id}/approve`, {
      body: { text: 'Welcome' },
      headers: match === undefined ? {} : { 'If-Match': match },
    });
  expect((await approve()).status).toBe(428);
  expect((await approve('"9999-AAAAAAAAAAAAAAAAAAAAAA"')).status).toBe(412);
  const approved = await approve(read.headers['etag']);
  expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
  expect(await stateOf(api.console, stored)).toEqual({ status: 'approved', stage: 'live', disabled: false });
  expect((await approve(read.headers['etag'])).status).toBe(409);
  expect((await api.call('get', '/requests')).body.items).toEqual([]);
});

it('the API asks the owner, and rejects a request only with a text', async () => {
  const stored = await storeRequest(api.console);
  const post = (step: string, body?: object) =>
    api.call('post', `/requests/${stored.id}/${step}`, {
      ...(body && { body }),
      headers: { 'If-Match': '*' },
    });
  expect((await post('ask', { text: 'Who runs elsewhere.example?' })).body.status).toBe('question');
  expect((await post('reject', {})).status).toBe(400);
  expect((await post('reject', { text: '\u202egnp.exe' })).status).toBe(400);
  expect((await post('reject', { text: 'The host is not yours.' })).body.status).toBe('rejected');
  expect((await stateOf(api.console, stored))?.disabled).toBe(true);
  expect((await post('reject', { text: 'Again.' })).status).toBe(409);
});

it('the API decides a request with admin:write only', async () => {
  const stored = await storeRequest(api.console);
  const { accessToken: token } = await api.registerClient('admin:read');
  const call = (method: string, path = '') =>
    api.call(method, `/requests/${stored.id}${path}`, { token, headers: { 'If-Match': '*' } });
  expect((await call('get')).status).toBe(200);
  expect((await call('post', '/approve')).status).toBe(403);
});

it('the API approves no change of the application by which operators log in', async () => {
  const callback = `${api.console.configuration.CONSOLE_URL}/login/callback`;
  const stored = await storeRequest(api.console, { redirectUris: [callback] });
  const { accessToken: token } = await api.registerClient('admin:write');
  const call = { token, headers: { 'If-Match': '*' }, body: {} };
  const { status } = await api.call('post', `/requests/${stored.id}/approve`, call);
  expect([status, (await stateOf(api.console, stored))?.stage]).toEqual([403, 'testing']);
});

describe('the API with an index of the audit trail', () => {
  it('counts the refused requests of an application in whole hours', async () => {
    const { client_id: id } = await api.fixture.client();
    const hour = new Date(Math.floor(Date.now() / 3_600_000 - 1) * 3_600_000);
    const since = new Date(hour.getTime() + 60_000).toISOString();
    await api.console.sql(
      `INSERT INTO audit_counts VALUES ($1, $2, 'request.refused', 'code_expired', 'invalid_grant', 7, $2, $2, 'counted_once')`,
      [id, hour],
    );
    const { body } = await api.call('get', `/clients/${id}/refusals?since=${since}`);
    expect(body).toMatchObject({ client_id: id, since: hour.toISOString(), refused: 7 });
    expect(body.groups).toMatchObject([{ check: 'code_expired', count: 7, reference: 'counted_once' }]);
  });

  it('explains a refused request without reading the whole trail', async () => {
    const nats = await connect(natsOptions(api.services.natsUrl, 'api test'));
    const refused = { type: 'request.refused', check: 'code_expired', error: 'invalid_grant' } as const;
    await storeEvent(nats, auditEvent('token', { ...refused, reference: 'explained_ok' }));
    const found = await api.call('get', '/explanations/explained_ok');
    expect([found.status, found.body.check]).toEqual([200, 'code_expired']);
    for await (const { created, config } of (await jetstreamManager(nats)).streams.list())
      await api.console.sql(
        `INSERT INTO audit_chunks VALUES ($1, $2, 1000000, 1, now(), now(), now(), '\\x0000000000000000')`,
        [config.name, created],
      );
    await nats.close();
    expect((await api.call('get', '/explanations/explained_ok')).status).toBe(404);
    await api.console.sql('DELETE FROM audit_chunks');
  });
});

describe('a problem', () => {
  it('names each invalid member', async () => {
    const body = { name: '', redirect_uris: ['http://rooms.example.com'], colour: 'red' };
    const unknown = await api.call('post', '/clients', { body });
    expect(unknown.body).toMatchObject({ type: 'about:blank', title: 'Bad Request', status: 400 });
    expect(unknown.body.errors).toMatchObject([{ id: 'unknown_field', pointer: '#/colour' }]);
    const { colour: _, ...known } = body;
    const { errors } = (await api.call('post', '/clients', { body: known })).body;
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/name', '#/redirect_uris']);
    expect(JSON.stringify(errors)).not.toContain('‹');
  });

  it.each(['redirectUris', '__proto__', String.raw`\ud800`])(
    'is sent for an unknown member: %s',
    async (member) => {
      const text = `{"name": "Rooms", "redirect_uris": ["${CALLBACK}"], "${member}": {}}`;
      const { accessToken } = await api.registerClient();
      const refused = await request(api.console.server)
        .post('/admin/v1/clients')
        .set({
          Authorization: `Bearer ${accessToken}`,
          'Idempotency-Key': 'k',
          'Content-Type': 'application/json',
        })
        .send(text);
      expect([refused.status, refused.body.errors?.[0].id]).toEqual([400, 'unknown_field']);
    },
  );

  it.each<[string, string, string, object | string, number]>([
    ['an unknown path', 'get', '/nothing', {}, 404],
    ['a malformed path', 'get', '/doctor%', {}, 404],
    ['an unknown resource', 'get', '/users/2147483647', {}, 404],
    ['a method that a path does not support', 'put', '/clients', {}, 405],
    ['a method that a resource does not support', 'put', '/clients/sc_x', {}, 405],
    ['a method that an action does not support', 'get', '/clients/sc_x/disable', {}, 405],
    ['a body that is not JSON', 'post', '/clients', '{"name"', 400],
    [
      'a body that is nested too deeply',
      'post',
      '/clients',
      `{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      400,
    ],
    ['a body that is too large', 'post', '/clients', JSON.stringify({ name: 'x'.repeat(70_000) }), 413],
  ])('is sent for %s', async (_, method, path, body, status) => {
    const { accessToken } = await api.registerClient();
    const sent = request(api.console.server)[method as 'get'](`/admin/v1${path}`);
    sent.set({ Authorization: `Bearer ${accessToken}`, 'Idempotency-Key': 'k' });
    const answer = await sent.type('json').send(body);
    expect([answer.status, answer.body.status]).toEqual([status, status]);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    if (status === 405) expect(answer.headers['allow']).toBeTruthy();
  });

  it('is sent for a malformed path in absolute form', async () => {
    const { port } = api.console.server.address() as AddressInfo;
    const sent = get({ host: '127.0.0.1', port, path: 'http://other.example/admin/v1/doctor%' });
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
  });
});

it('the OpenAPI description is served without a token', async () => {
  const { CONSOLE_URL } = api.console.configuration;
  const { body } = await api.call('get', '/openapi.json', { token: null });
  expect([body.openapi, body.servers[0].url]).toEqual(['3.1.1', CONSOLE_URL]);
});
