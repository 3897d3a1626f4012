import { randomUUID } from 'node:crypto';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

afterAll(() => api.close());

const ROOMS = { name: 'Room Finder', redirect_uris: ['https://rooms.example.com/callback'] };

const createClient = async (body: object = ROOMS, key: string = randomUUID()) =>
  api.call('post', '/clients', { body, headers: { 'Idempotency-Key': key } });

const countOf = async (name: string) =>
  (await api.console.sql('SELECT 1 FROM clients WHERE name = $1 AND deleted_at IS NULL', [name])).length;

describe('If-Match', () => {
  it.each([
    ['patch', '', { name: 'Rooms' }],
    ['post', '/disable', undefined],
    ['post', '/secrets', undefined],
    ['delete', '', undefined],
  ])('is required for %s /clients/:id%s and must be the current version', async (method, path, body) => {
    const { client_id: id } = (await createClient()).body as { client_id: string };
    const read = await api.call('get', `/clients/${id}`);
    const change = (match: string | null) =>
      api.call(method, `/clients/${id}${path}`, {
        ...(body && { body }),
        headers: match === null ? {} : { 'If-Match': match },
      });
    expect((await change(null)).status).toBe(428);
    for (const other of ['"9999-AAAAAAAAAAAAAAAAAAAAAA"', '"9999"', '"of,another-server"', 'W/"1"'])
      expect((await change(other)).status).toBe(412);
    expect((await change(`W/${read.headers['etag']}`)).status).toBe(412);
    expect((await api.call('get', `/clients/${id}`)).headers['etag']).toBe(read.headers['etag']);
    expect((await change(read.headers['etag'] ?? '')).status).toBeLessThan(300);
  });

  it.each(['1', '"1', 'W/', '"1" "2"', ',', '', '*, "1"', 'w/"1"'])(
    'that is malformed gets 400: %s',
    async (match) => {
      const { client_id: id } = (await createClient()).body as { client_id: string };
      const change = { body: { name: 'Rooms' }, headers: { 'If-Match': match } };
      const refused = await api.call('patch', `/clients/${id}`, change);
      expect([refused.status, refused.body.id]).toEqual([400, 'if_match_malformed']);
    },
  );

  it('accepts a list that contains the current version', async () => {
    const { body } = await createClient();
    const { etag = '' } = (await api.call('get', `/clients/${body.client_id}`)).headers;
    const change = (match: string, name: string) =>
      api.call('patch', `/clients/${body.client_id}`, { body: { name }, headers: { 'If-Match': match } });
    expect((await change(`"other,tag", ,W/"1", ${etag}`, 'One')).body.name).toBe('One');
    expect((await change(`"other", ${etag}`, 'Two')).status).toBe(412);
    const many = Array.from({ length: 11 }, (_, at) => `"${at + 1}-${'A'.repeat(22)}"`).join();
    expect((await change(many, 'Three')).body.id).toBe('if_match_too_long');
  });

  it('accepts * for any version', async () => {
    const { client_id: id } = (await createClient()).body as { client_id: string };
    const changed = await api.call('patch', `/clients/${id}`, {
      body: { name: 'Rooms' },
      headers: { 'If-Match': '*' },
    });
    expect([changed.status, changed.body.name, changed.body.version]).toEqual([200, 'Rooms', 2]);
    expect((await api.call('get', `/clients/${id}`)).headers['etag']).toBe(changed.headers['etag']);
  });

  it('permits only one of two concurrent changes', async () => {
    const { client_id: id } = (await createClient()).body as { client_id: string };
    const { etag = '' } = (await api.call('get', `/clients/${id}`)).headers;
    const change = (name: string) =>
      api.call('patch', `/clients/${id}`, { body: { name }, headers: { 'If-Match': etag } });
    const [one, two] = await Promise.all([change('One'), change('Two')]);
    expect(new Set([one.status, two.status])).toEqual(new Set([200, 412]));
  });

  it('also protects users and resource servers', async () => {
    const { body } = await api.call('post', '/resource-servers', { body: { name: 'Rooms API' } });
    const path = `/resource-servers/${body.id}`;
    expect((await api.call('delete', path)).status).toBe(428);
    expect((await api.call('delete', path, { headers: { 'If-Match': '"2"' } })).status).toBe(412);
    const user = `/users/${await api.fixture.user()}`;
    const { etag = '' } = (await api.call('get', user)).headers;
    expect(
      (await api.call('post', `${user}/disable`, { headers: { 'If-Match': '"2147483647"' } })).status,
    ).toBe(412);
    expect((await api.call('post', `${user}/disable`, { headers: { 'If-Match': etag } })).status).toBe(200);
  });

  it('protects the log-out of a user, which changes the user', async () => {
    const user = `/users/${await api.fixture.user()}`;
    const logOut = (headers: Record<string, string>) => api.call('post', `${user}/logout`, { headers });
    const { etag = '' } = (await api.call('get', user)).headers;
    expect((await logOut({})).status).toBe(428);
    expect((await logOut({ 'If-Match': etag })).status).toBe(200);
    expect((await logOut({ 'If-Match': etag })).status).toBe(412);
    expect((await logOut({ 'If-Match': '*' })).status).toBe(200);
  });

  it('prevents the revocation of a grant that was used or revoked after it was read', async () => {
    const { client_id: clientId } = await api.fixture.client();
    const userId = await api.fixture.user();
    for (let count = 0; count < 2; count++) await api.fixture.code(clientId, userId);
    const { items } = (await api.call('get', `/grants?user=id:${userId}`)).body;
    const [used, other] = (items as { id: string }[]).map(({ id }) => id);
    const etagOf = async (id = '') => (await api.call('get', `/grants/${id}`)).headers['etag'] ?? '';
    const revoke = async (id = '', match?: string) =>
      (await api.call('delete', `/grants/${id}`, { headers: match ? { 'If-Match': match } : {} })).status;
    const unused = await etagOf(used);
    expect(unused).toMatch(new RegExp(`^"${items[0].version}-`));
    await api.console.sql(`UPDATE grants SET last_used_on = now() WHERE id = $1`, [used]);
    expect([await revoke(used), await revoke(used, unused)]).toEqual([428, 412]);
    const before = await etagOf(used);
    expect(await revoke(used, before)).toBe(204);
    expect([await revoke(used, before), await revoke(used, '*')]).toEqual([412, 204]);
    expect(await revoke(other, await etagOf(other))).toBe(204);
  });
});

describe('If-None-Match', () => {
  const read = (path: string, headers: Record<string, string>) => api.call('get', path, { headers });

  it.each(['/clients', '/users', '/grants', '/resource-servers', '/keys'])(
    'gives 304 without a body for an unchanged %s',
    async (path) => {
      const { etag = '' } = (await read(path, {})).headers;
      const unchanged = await read(path, { 'If-None-Match': etag });
      expect([unchanged.status, unchanged.text, unchanged.headers['etag']]).toEqual([304, '', etag]);
    },
  );

  it('is compared with each of its entity tags', async () => {
    const { etag = '' } = (await read('/clients', {})).headers;
    for (const tags of [`W/${etag}`, `"other", ${etag}`, '*'])
      expect((await read('/clients', { 'If-None-Match': tags })).status).toBe(304);
    expect((await read('/clients', { 'If-None-Match': '"other"' })).status).toBe(200);
    expect((await read('/clients', { 'If-None-Match': 'other' })).body.id).toBe('if_none_match_malformed');
  });

  it('gives 200 if a part of the representation has changed that has no version', async () => {
    const { client_id: clientId } = await api.fixture.client();
    const userId = await api.fixture.user();
    const { headers } = await read(`/users/${userId}`, {});
    const condition = { 'If-None-Match': headers['etag'] ?? '' };
    expect((await read(`/users/${userId}`, condition)).status).toBe(304);
    await api.fixture.code(clientId, userId);
    const changed = await read(`/users/${userId}`, condition);
    expect([changed.status, changed.body.live_grants]).toEqual([200, 1]);
  });

  it('is evaluated after If-Match', async () => {
    const { etag = '' } = (await read('/clients', {})).headers;
    const both = (match: string) => read('/clients', { 'If-Match': match, 'If-None-Match': etag });
    expect([(await both('"other"')).status, (await both(etag)).status]).toEqual([412, 304]);
  });

  it('is refused for a change', async () => {
    const { client_id: id } = (await createClient()).body as { client_id: string };
    const headers = { 'If-None-Match': '*', 'If-Match': '*' };
    const refused = await api.call('patch', `/clients/${id}`, { body: { name: 'Rooms' }, headers });
    expect([refused.status, refused.body.id]).toEqual([400, 'condition_unsupported']);
  });
});

describe('Idempotency-Key', () => {
  it('is required for POST /clients', async () => {
    const missing = await api.call('post', '/clients', { body: ROOMS, headers: { 'Idempotency-Key': '' } });
    expect(missing.status).toBe(400);
  });

  it('gives a retry the first response byte for byte, including the secret', async () => {
    const [key, body] = [randomUUID(), { ...ROOMS, name: 'Repeated' }];
    const [first, quoted] = [await createClient(body, key), await createClient(body, `"${key}"`)];
    expect(first.body.client_secret).toMatch(/^scs_/);
    expect([quoted.status, quoted.text, quoted.headers['location']]).toEqual([
      201,
      first.text,
      first.headers['location'],
    ]);
    expect(await countOf('Repeated')).toBe(1);
  });

  it('cannot be reused for another request', async () => {
    const key = randomUUID();
    await createClient(ROOMS, key);
    expect((await createClient({ ...ROOMS, name: 'Other' }, key)).status).toBe(422);
    expect(await countOf('Other')).toBe(0);
  });

  it('is separate for each client', async () => {
    const [key, { accessToken }] = [randomUUID(), await api.registerClient()];
    const first = await createClient(ROOMS, key);
    const other = await api.call('post', '/clients', {
      token: accessToken,
      body: ROOMS,
      headers: { 'Idempotency-Key': key },
    });
    expect(other.body.client_id).not.toBe(first.body.client_id);
  });

  it('lets only one of several concurrent requests create a client', async () => {
    const [key, body] = [randomUUID(), { ...ROOMS, name: 'Concurrent' }];
    const all = await Promise.all(Array.from({ length: 5 }, () => createClient(body, key)));
    expect(all.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(await countOf('Concurrent')).toBe(1);
  });

  it('prevents a second creation if the process ended before it stored the response', async () => {
    const [key, body] = [randomUUID(), { ...ROOMS, name: 'Killed' }];
    const [before] = [new Set(await api.console.redis.keys('console:idempotency:*'))];
    await createClient(body, key);
    const [record = ''] = (await api.console.redis.keys('console:idempotency:*')).filter(
      (name) => !before.has(name),
    );
    // A process that ends before it stores the response leaves a record with only these fields.
    const { answer: _, ...claimed } = JSON.parse((await api.console.redis.get(record)) ?? '') as Record<
      string,
      unknown
    >;
    await api.console.redis.set(record, JSON.stringify(claimed));
    const running = await createClient(body, key);
    expect([running.status, running.headers['retry-after']]).toEqual([409, '1']);
    api.console.clock.ahead = 61_000;
    const ended = await createClient(body, key);
    api.console.clock.ahead = 0;
    expect([ended.status, ended.body.detail]).toEqual([409, expect.stringContaining('read the list')]);
    expect(await countOf('Killed')).toBe(1);
  });

  it('can be reused for a corrected request after a refusal', async () => {
    const key = randomUUID();
    expect((await createClient({ name: 'Rooms' }, key)).status).toBe(400);
    expect((await createClient(ROOMS, key)).status).toBe(201);
  });

  it('leaves no secret, key or name in Redis', async () => {
    const key = randomUUID();
    const { body } = await createClient(ROOMS, key);
    const names = await api.console.redis.keys('console:*');
    const values = await Promise.all(names.map((name) => api.console.redis.get(name)));
    const everything = [...names, ...values].join('\n');
    for (const text of [key, body.client_secret, body.client_id, 'Room Finder'])
      expect(everything).not.toContain(text);
  });
});

it('the API changes nothing while Redis does not answer', async () => {
  const before = await countOf('Room Finder');
  api.proxy.disconnect();
  const refused = await createClient();
  api.proxy.reconnect();
  expect([refused.status, refused.headers['content-type']]).toEqual([
    503,
    'application/problem+json; charset=utf-8',
  ]);
  expect(await countOf('Room Finder')).toBe(before);
});
