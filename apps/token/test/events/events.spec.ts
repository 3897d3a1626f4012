import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/keys.js';
import { blocked, until } from '#test/support/until.js';
import { MAX_REQUESTS } from '../../src/events/event-token.guard.js';
import { useTokenApp } from '../support/use-token-app.js';

const ISSUER = 'https://base.example.com';
const [PUSH, POLL] = ['urn:ietf:rfc:8935', 'urn:ietf:rfc:8936'];
const EVENTS = 'https://schemas.openid.net/secevent';
const REVOKED = `${EVENTS}/oauth/event-type/tokens-revoked`;
const WITHIN_MS = 60_000;

const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly set: string;
}

let receiver: {
  readonly url: string;
  readonly received: Received[];
  answer: (received: Received) => number | Promise<number>;
};
let close: () => void;

beforeAll(async () => {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (set) => {
      const one = { path: incoming.url ?? '', headers: incoming.headers, set };
      received.push(one);
      const status = await receiver.answer(one);
      if (one.path === '/chatty')
        response.writeHead(status, { 'Content-Encoding': 'gzip' }).end('x'.repeat(100_000));
      else if (one.path === '/endless' && status === 400)
        response.writeHead(status).write('x'.repeat(100_000));
      else response.writeHead(status).end(status === 400 ? JSON.stringify({ err: 'invalid_audience' }) : '');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver = { url, received, answer: () => 202 };
  close = () => server.close().closeAllConnections();
});

afterEach(() => (receiver.answer = () => 202));
afterAll(() => close());

async function register(more: object = {}) {
  const { secret, hash: secretHash } = generateClientSecret();
  const registration = {
    name: 'Calendar Connect',
    type: 'confidential',
    scopes: ['profile:read', 'openid', 'email'],
    redirectUris: [REDIRECT_URI],
  } as const;
  const client = await app.clients.create({ ...registration, secretHash, ...more });
  const credentials = { client_id: client.clientId, client_secret: secret };
  const answer = await app.post('token', {
    grant_type: 'client_credentials',
    scope: 'ssf.read ssf.manage',
    ...credentials,
  });
  const { access_token: token } = answer.body as { access_token: string };
  const call = (method: 'get' | 'post' | 'patch' | 'put' | 'delete', path: string, body?: object) =>
    request(app.server)[method](`/api/auth/oauth/events/${path}`).auth(token, { type: 'bearer' }).send(body);
  return { ...client, credentials, token, call };
}

type Registered = Awaited<ReturnType<typeof register>>;

/** Creates a stream, and a grant of the user. */
async function listening(delivery: object, more: object = {}, events?: readonly string[]) {
  const client = await register(more);
  const answer = await client.call('post', 'stream', {
    delivery,
    ...(events && { events_requested: events }),
  });
  expect(answer.status).toBe(201);
  const { stream_id: streamId } = answer.body as { stream_id: string };
  const userId = await app.user();
  const code = await app.code(client.clientId, userId, { scope: 'profile:read' });
  const pair = await app.post('token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...client.credentials,
  });
  const { refresh_token: refreshToken } = pair.body as { refresh_token: string };
  return { ...client, streamId, userId, refreshToken };
}

const pushTo = (path: string) => ({ method: PUSH, endpoint_url: receiver.url + path });
const at = (path: string) => receiver.received.filter((received) => received.path === path);
const arrived = (path: string, count = 1) =>
  until(`${count} events at ${path}`, WITHIN_MS, () => at(path).length >= count);

/** Records events about the user. */
const record = ({ streamId, userId }: { streamId: string; userId: number }, count: number) =>
  app.sql(
    `INSERT INTO events (stream_id, type, user_id, txn)
     SELECT $1, 'account-enabled', $2, gen_random_uuid() FROM generate_series(1, $3::integer)`,
    [streamId, userId, count],
  );

/** Holds responses until `resolve`. */
function gate() {
  let resolve: (status: number) => void = () => undefined;
  const changed = new Promise<number>((done) => (resolve = done));
  return { changed, resolve: (status: number) => resolve(status) };
}

const released = ({ streamId }: { streamId: string }) =>
  until('the end of the lease', WITHIN_MS, async () => {
    const leased = await app.sql('SELECT FROM event_streams WHERE id = $1 AND leased_until > now()', [
      streamId,
    ]);
    return leased.length === 0;
  });

const verify = (set: string, audience: string) =>
  jwtVerify(set, createLocalJWKSet(SIGNING_KEYS.jwks as JSONWebKeySet), {
    issuer: ISSUER,
    audience,
    typ: 'secevent+jwt',
  });

const revoke = ({ refreshToken, credentials }: { refreshToken: string; credentials: object }) =>
  app.post('revoke', { token: refreshToken, ...credentials });

const poll = async ({ call }: Registered, body: object = {}) =>
  (await call('post', 'poll', body)).body as { sets: Record<string, string>; moreAvailable: boolean };

const typesIn = (sets: object): string[] =>
  Object.values(sets as Record<string, string>).flatMap((set) =>
    Object.keys(decodeJwt(set)['events'] as object),
  );

describe('a token for the event stream', () => {
  it('is issued to a confidential client for its own stream only', async () => {
    const { token, clientId } = await register();
    expect(await app.ask(SUBJECTS.introspect, { token })).toMatchObject({
      sub: clientId,
      scope: 'ssf.read ssf.manage',
      aud: [`${ISSUER}/api/auth/oauth/events`],
    });
  });

  it('is not issued to a public client', async () => {
    const { client_id } = await app.publicClient('https://spa.example.com/cb');
    const answer = await app.post('token', {
      grant_type: 'client_credentials',
      scope: 'ssf.read',
      client_id,
    });
    expect(answer.body).toMatchObject({ error: 'unauthorized_client' });
  });

  it('cannot include another scope', async () => {
    const { credentials } = await register();
    const answer = await app.post('token', {
      grant_type: 'client_credentials',
      scope: 'ssf.read profile:read',
      ...credentials,
    });
    expect(answer.status).toBe(400);
  });

  it.each([
    ['is disabled', 'UPDATE clients SET disabled_at = now(), version = version + 1 WHERE client_id = $1'],
    ['changes its keys', 'UPDATE clients SET version = version + 1 WHERE client_id = $1'],
    ['is deleted', 'UPDATE clients SET deleted_at = now(), disabled_at = now() WHERE client_id = $1'],
  ])('ends immediately when its client %s', async (_change, statement) => {
    const { call, clientId } = await register();
    expect((await call('get', 'stream')).status).toBe(200);
    await app.sql(statement, [clientId]);
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    expect((await call('get', 'stream')).status).toBe(401);
  });

  it('ends immediately when its client gets or loses a secret, without a broadcast', async () => {
    const { call, clientId } = await register();
    await app.secrets.add(clientId, generateClientSecret().hash);
    expect((await call('get', 'stream')).status).toBe(401);
  });

  it('is the only token that the API accepts', async () => {
    const { call, clientId, credentials } = await register();
    const read = (token: string) =>
      request(app.server).get('/api/auth/oauth/events/stream').auth(token, { type: 'bearer' });
    const code = await app.code(clientId, await app.user());
    const pair = await app.post('token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...credentials,
    });
    const ofUser = await read((pair.body as { access_token: string }).access_token);
    expect([ofUser.status, ofUser.headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ]);
    const none = await request(app.server).get('/api/auth/oauth/events/stream');
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, 'Bearer realm="events"']);
    expect((await call('get', 'stream')).body).toEqual([]);
  });

  it('needs ssf.manage to change the stream', async () => {
    const { credentials } = await register();
    const answer = await app.post('token', {
      grant_type: 'client_credentials',
      scope: 'ssf.read',
      ...credentials,
    });
    const refused = await request(app.server)
      .post('/api/auth/oauth/events/stream')
      .auth((answer.body as { access_token: string }).access_token, { type: 'bearer' })
      .send({});
    expect([refused.status, (refused.body as { error: string }).error]).toEqual([403, 'insufficient_scope']);
  });
});

describe('the event API', () => {
  it('rejects the requests of a client above its limit with 429, until the minute has ended', async () => {
    const [client, other] = [await register(), await register()];
    const key = `event-requests:${client.clientId}`;
    await app.redis.set(key, MAX_REQUESTS - 1, 'PX', 60_000);
    expect((await client.call('post', 'poll', {})).status).toBe(404);
    const refused = await client.call('post', 'poll', {});
    expect([refused.status, refused.headers['retry-after']]).toEqual([
      429,
      expect.stringMatching(/^[1-9][0-9]?$/),
    ]);
    expect((await other.call('post', 'poll', {})).status).toBe(404);
    await app.redis.del(key);
    expect((await client.call('get', 'stream')).status).toBe(200);
    expect(await app.redis.pttl(key)).toBeGreaterThan(0);
  });
});

describe('the metadata of the transmitter', () => {
  // @ssf 7
  it('name endpoints that exist', async () => {
    const answer = await request(app.server).get('/.well-known/ssf-configuration');
    expect(answer.body).toMatchObject({ issuer: ISSUER, jwks_uri: `${ISSUER}/api/auth/oauth/jwks` });
    const endpoints = Object.entries(answer.body as Record<string, string>).filter(([name]) =>
      name.endsWith('_endpoint'),
    );
    expect(endpoints).toHaveLength(5);
    for (const [, url] of endpoints)
      expect((await request(app.server).post(url.slice(ISSUER.length)).send({})).status).toBe(401);
  });
});

describe('a stream', () => {
  // @ssf 8.1.1
  it('is created, read, changed, replaced and deleted by its client', async () => {
    const { call, clientId } = await register();
    const created = await call('post', 'stream', {
      delivery: {
        method: PUSH,
        endpoint_url: 'https://app.example.com/events',
        authorization_header: 'Bearer x',
      },
      events_requested: [REVOKED, 'https://other.example.com/event'],
      description: 'ours',
    });
    expect(created.status).toBe(201);
    const { stream_id } = created.body as { stream_id: string };
    const configuration = {
      stream_id,
      iss: ISSUER,
      aud: clientId,
      delivery: { method: PUSH, endpoint_url: 'https://app.example.com/events' },
      events_requested: [REVOKED],
      events_delivered: [REVOKED],
      description: 'ours',
    };
    expect(created.body).toMatchObject(configuration);
    expect((await call('get', `stream?stream_id=${stream_id}`)).body).toMatchObject(configuration);
    expect((await call('post', 'stream', {})).status).toBe(409);
    const changed = await call('patch', 'stream', { stream_id, description: 'new' });
    expect(changed.body).toMatchObject({ ...configuration, description: 'new' });
    const replaced = await call('put', 'stream', { stream_id, delivery: { method: POLL } });
    expect(replaced.body).toMatchObject({
      delivery: { method: POLL, endpoint_url: `${ISSUER}/api/auth/oauth/events/poll` },
    });
    expect(replaced.body).not.toHaveProperty('description');
    expect((await call('delete', `stream?stream_id=${stream_id}`)).status).toBe(204);
    expect((await call('get', `stream?stream_id=${stream_id}`)).status).toBe(404);
  });

  it('is deleted by a request that has a media type and no body', async () => {
    const { token, call } = await register();
    const { stream_id } = (await call('post', 'stream', {})).body as { stream_id: string };
    const path = `/api/auth/oauth/events/stream?stream_id=${stream_id}`;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    expect((await fetch(app.url + path, { method: 'DELETE', headers, body: '' })).status).toBe(204);
  });

  it('does not exist for another client', async () => {
    const [{ streamId }, other] = [await listening({ method: POLL }), await register()];
    await other.call('post', 'stream', {});
    for (const answer of [
      await other.call('get', `stream?stream_id=${streamId}`),
      await other.call('patch', 'stream', { stream_id: streamId, description: 'mine' }),
      await other.call('delete', `stream?stream_id=${streamId}`),
      await other.call('post', 'status', { stream_id: streamId, status: 'disabled' }),
      await other.call('post', 'verify', { stream_id: streamId }),
      await other.call('post', 'subjects/remove', {
        stream_id: streamId,
        subject: { format: 'iss_sub', iss: ISSUER, sub: '1' },
      }),
    ])
      expect(answer.status).toBe(404);
  });

  it.each([
    ['a receiver without https', { delivery: { method: PUSH, endpoint_url: 'http://app.example.com/' } }],
    ['a push without a receiver', { delivery: { method: PUSH } }],
    ['an unknown method', { delivery: { method: 'urn:ietf:rfc:1' } }],
    [
      'a header with a line break',
      { delivery: { method: PUSH, endpoint_url: 'https://a.example/', authorization_header: 'a\nb' } },
    ],
    ['events that are no list', { events_requested: REVOKED }],
    ['a nested event', { events_requested: [{}] }],
    ['a description that is too long with its variation selectors', { description: 'a\ufe0f'.repeat(200) }],
  ])('rejects %s', async (_case, body) => {
    const { call } = await register();
    const answer = await call('post', 'stream', body);
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([400, 'invalid_request']);
  });
});

describe('a verification', () => {
  it('rejects a state that PostgreSQL cannot store', async () => {
    const { call, streamId } = await listening({ method: POLL });
    expect((await call('post', 'verify', { stream_id: streamId, state: '\ud800' })).status).toBe(400);
  });
});

describe('the header of a receiver', () => {
  it('is not sent to another address, also after a change by SQL', async () => {
    const client = await listening({ ...pushTo('/sealed'), authorization_header: 'Bearer ours' });
    const other = `${receiver.url}/stolen`;
    await app.sql('UPDATE event_streams SET endpoint_url = $2 WHERE id = $1', [client.streamId, other]);
    await revoke(client);
    await until('an attempt', WITHIN_MS, async () => {
      const tried = 'SELECT FROM events WHERE stream_id = $1 AND attempts > 0';
      return (await app.sql(tried, [client.streamId])).length > 0;
    });
    expect(at('/stolen')).toEqual([]);
  });

  it('stays with the address that an operator registers while the client changes its stream', async () => {
    const { call, streamId } = await listening(pushTo('/old'));
    const runner = app.store(DataSource).createQueryRunner();
    await runner.startTransaction();
    const operators = 'https://operator.example.com/events';
    await runner.query('UPDATE event_streams SET endpoint_url = $2 WHERE id = $1', [streamId, operators]);
    const changing = call('patch', 'stream', { stream_id: streamId, description: 'new' }).then(
      ({ body }) => body as object,
    );
    await blocked(app);
    await runner.commitTransaction();
    await runner.release();
    expect(await changing).toMatchObject({ description: 'new', delivery: { endpoint_url: operators } });
  });
});

describe('a revocation', () => {
  // @ssf 4.1
  it('is pushed to the client of the grant, signed like an ID token', async () => {
    const client = await listening({ ...pushTo('/revoked'), authorization_header: 'Bearer ours' });
    await revoke(client);
    await arrived('/revoked');
    const [{ headers, set } = { headers: {}, set: '' }] = at('/revoked');
    expect([headers['content-type'], headers.authorization]).toEqual([
      'application/secevent+jwt',
      'Bearer ours',
    ]);
    const { payload } = await verify(set, client.clientId);
    expect(payload).toEqual({
      iss: ISSUER,
      aud: client.clientId,
      iat: expect.any(Number),
      jti: expect.any(String),
      txn: expect.any(String),
      sub_id: { format: 'iss_sub', iss: ISSUER, sub: String(client.userId) },
      events: {
        [REVOKED]: {
          grant_id: app.grantIdOf(client.refreshToken),
          reason_admin: { en: expect.stringContaining('RFC 7009') as string },
          reason_user: { en: expect.any(String) },
        },
      },
    });
  });

  it('is pushed with the same header after a change of the stream that does not replace the receiver', async () => {
    const client = await listening({ ...pushTo('/patched'), authorization_header: 'Bearer ours' });
    await client.call('patch', 'stream', { stream_id: client.streamId, description: 'mine' });
    await revoke(client);
    await arrived('/patched');
    expect(at('/patched')[0]?.headers.authorization).toBe('Bearer ours');
    await client.call('put', 'stream', { stream_id: client.streamId });
    await client.call('patch', 'stream', { stream_id: client.streamId, delivery: pushTo('/patched') });
    await client.call('post', 'verify', { stream_id: client.streamId });
    await arrived('/patched', 2);
    expect(at('/patched')[1]?.headers).not.toHaveProperty('authorization');
  });

  // @ssf 10.3
  it('is sent again with the same jti until the receiver accepts it, and then not again', async () => {
    const client = await listening(pushTo('/flaky'));
    let failures = 1;
    receiver.answer = ({ path }) => (path === '/flaky' && failures-- > 0 ? 503 : 202);
    await revoke(client);
    await arrived('/flaky', 2);
    const [first, second] = at('/flaky').map(({ set }) => decodeJwt(set));
    expect(second).toEqual(first);
    const last = await listening(pushTo('/later'));
    await revoke(last);
    await arrived('/later');
    expect(at('/flaky')).toHaveLength(2);
  });

  it('is delivered once to a receiver that accepts it with a long or compressed body', async () => {
    const client = await listening(pushTo('/chatty'));
    await revoke(client);
    await arrived('/chatty');
    await client.call('post', 'verify', { stream_id: client.streamId });
    await arrived('/chatty', 2);
    expect(typesIn(at('/chatty').map(({ set }) => set))).toEqual([
      REVOKED,
      `${EVENTS}/ssf/event-type/verification`,
    ]);
  });

  it('is sent again if the receiver refuses it with a body that does not end', async () => {
    const client = await listening(pushTo('/endless'));
    let failures = 1;
    receiver.answer = ({ path }) => (path === '/endless' && failures-- > 0 ? 400 : 202);
    await revoke(client);
    await arrived('/endless', 2);
    const [first, second] = at('/endless').map(({ set }) => decodeJwt(set));
    expect(second?.jti).toBe(first?.jti);
  });

  it('that the receiver refuses is recorded, and does not block later events', async () => {
    const client = await listening(pushTo('/refuses'));
    receiver.answer = () => 400;
    await revoke(client);
    await arrived('/refuses');
    const [event] = await auditEvents(app.natsUrl, { types: ['event.failed'], clientId: client.clientId });
    expect(event).toMatchObject({
      check: 'event_refused',
      detail: { outcome: 'refused', failure: 'status 400, invalid_audience' },
    });
    receiver.answer = () => 202;
    await client.call('post', 'verify', { stream_id: client.streamId });
    await arrived('/refuses', 2);
  });

  it('does not wait for the dead receiver of another client', async () => {
    const dead = await listening({ method: PUSH, endpoint_url: 'http://127.0.0.1:1/' });
    await revoke(dead);
    const client = await listening(pushTo('/alive'));
    await revoke(client);
    await arrived('/alive');
  });

  it('contains the pairwise subject, and no value that an event of another client contains', async () => {
    const pairwise = await listening({ method: POLL }, { sector: 'app.example.com' });
    const other = await listening({ method: POLL });
    await app.code(other.clientId, pairwise.userId);
    await app.accounts.disable(pairwise.userId);
    const [one, two] = [await poll(pairwise), await poll(other)].map(({ sets }) =>
      decodeJwt(Object.values(sets)[0] ?? ''),
    );
    expect(one?.['sub_id']).toMatchObject({ sub: subjectOf(pairwise, pairwise.userId) });
    expect(JSON.stringify(one)).not.toContain(`"${pairwise.userId}"`);
    const shared = [one, two].map((claims) => [claims?.jti, claims?.['txn']]);
    expect(new Set(shared.flat()).size).toBe(4);
  });
});

describe('a request in flight', () => {
  type Listening = Awaited<ReturnType<typeof listening>>;
  const setStatus = (status: string) => (client: Listening) =>
    client.call('post', 'status', { stream_id: client.streamId, status });
  const subject = ({ userId }: Listening) => ({ format: 'iss_sub', iss: ISSUER, sub: String(userId) });

  it.each<[string, (client: Listening, path: string) => PromiseLike<unknown>]>([
    ['a pause', setStatus('paused')],
    ['a disabled stream', setStatus('disabled')],
    [
      'a new address',
      ({ call, streamId: stream_id }, path) =>
        call('patch', 'stream', { stream_id, delivery: pushTo(`${path}-new`) }),
    ],
    [
      'a change to polls',
      ({ call, streamId: stream_id }) => call('patch', 'stream', { stream_id, delivery: { method: POLL } }),
    ],
    [
      'a removed subject',
      (client) =>
        client.call('post', 'subjects/remove', { stream_id: client.streamId, subject: subject(client) }),
    ],
  ])('is the last to the receiver after %s', async (_what, change) => {
    const path = `/held-${randomUUID()}`;
    const client = await listening(pushTo(path));
    const { changed, resolve } = gate();
    receiver.answer = (received) => (received.path === path ? changed : 202);
    await record(client, 5);
    await arrived(path);
    await change(client, path);
    resolve(202);
    await released(client);
    expect(at(path).length).toBe(1);
  });

  it('is the last to the receiver after the end of the stream, before the events of a new one', async () => {
    const client = await listening(pushTo('/ended'));
    const { changed, resolve } = gate();
    receiver.answer = ({ path }) => (path === '/ended' ? changed : 202);
    await record(client, 5);
    await arrived('/ended');
    await client.call('delete', `stream?stream_id=${client.streamId}`);
    resolve(202);
    const created = await client.call('post', 'stream', { delivery: pushTo('/ended') });
    const { stream_id } = created.body as { stream_id: string };
    await client.call('post', 'verify', { stream_id });
    await arrived('/ended', 2);
    const types = typesIn(at('/ended').map(({ set }) => set)).map((uri) => uri.replace(/^.*[/]/, ''));
    expect(types).toEqual(['account-enabled', 'verification']);
  });

  it('is the last about a user after the client was disabled; the others wait until it is enabled', async () => {
    const client = await listening(pushTo('/disabled'));
    const { changed, resolve } = gate();
    receiver.answer = ({ path }) => (path === '/disabled' ? changed : 202);
    await record(client, 3);
    await arrived('/disabled');
    await app.registrations.setDisabled(client.clientId, true);
    resolve(202);
    await arrived('/disabled', 2);
    await released(client);
    const types = () =>
      typesIn(at('/disabled').map(({ set }) => set)).map((uri) => uri.replace(/^.*[/]/, ''));
    expect(types()).toEqual(['account-enabled', 'client-disabled']);
    await app.registrations.setDisabled(client.clientId, false);
    await arrived('/disabled', 5);
    expect(types().slice(2)).toEqual(['account-enabled', 'account-enabled', 'client-enabled']);
  });

  it('keeps the order of events if the client is disabled and enabled during a batch', async () => {
    const client = await listening(pushTo('/blinking'));
    const gates = [gate(), gate()];
    receiver.answer = ({ path }) =>
      path === '/blinking' ? (gates[at('/blinking').length - 1]?.changed ?? 202) : 202;
    await record(client, 2);
    await app.sql(
      "INSERT INTO events (stream_id, type, txn) VALUES ($1, 'client-credential-changed', gen_random_uuid())",
      [client.streamId],
    );
    await record(client, 2);
    await arrived('/blinking');
    await app.registrations.setDisabled(client.clientId, true);
    gates[0]?.resolve(202);
    await arrived('/blinking', 2);
    await app.registrations.setDisabled(client.clientId, false);
    gates[1]?.resolve(202);
    await arrived('/blinking', 7);
    const rows = await app.sql(
      'SELECT jti FROM events WHERE stream_id = $1 AND user_id IS NOT NULL ORDER BY id',
      [client.streamId],
    );
    const sent = at('/blinking').map(({ set }) => decodeJwt(set).jti);
    const aboutUser = (rows as { jti: string }[]).map(({ jti }) => jti);
    expect(sent.filter((jti) => aboutUser.includes(jti ?? ''))).toEqual(aboutUser);
  });
});

describe('an outage of PostgreSQL', () => {
  // Sequences keep their values when a statement fails.
  const OUTAGE = `
    CREATE SEQUENCE failed_statements;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN PERFORM nextval('failed_statements'); RAISE EXCEPTION 'outage'; END $$;
    CREATE TRIGGER outage BEFORE UPDATE ON event_streams FOR EACH STATEMENT EXECUTE FUNCTION fail();
    CREATE TRIGGER outage BEFORE UPDATE ON events FOR EACH STATEMENT EXECUTE FUNCTION fail()`;
  /** Half a lease. */
  const SOON_MS = 30_000;

  it('does not delay events until the end of the leases that it interrupted', async () => {
    const client = await listening(pushTo('/interrupted'));
    const { changed, resolve } = gate();
    receiver.answer = ({ path }) => (path === '/interrupted' ? changed : 202);
    await record(client, 1);
    await arrived('/interrupted');
    await app.sql(OUTAGE);
    resolve(202);
    await until('failed statements', WITHIN_MS, async () => {
      const [row] = await app.sql('SELECT last_value::integer AS failed FROM failed_statements');
      return (row as { failed: number }).failed >= 2;
    });
    await app.sql('DROP FUNCTION fail CASCADE');
    await until('the next attempt', SOON_MS, () => at('/interrupted').length === 2);
    const [first, second] = at('/interrupted').map(({ set }) => decodeJwt(set).jti);
    expect(second).toBe(first);
  });
});

describe('an event that the service cannot sign', () => {
  it('is a failure of the stream, which is tried again later', async () => {
    const client = await listening(pushTo('/unsigned'));
    await app.sql(
      "INSERT INTO events (stream_id, type, txn) VALUES ($1, 'of-a-later-version', gen_random_uuid())",
      [client.streamId],
    );
    const [event] = await auditEvents(app.natsUrl, { types: ['event.failed'], clientId: client.clientId }, 1);
    expect(event).toMatchObject({ check: 'event_delayed', detail: { outcome: 'delayed' } });
    const failing =
      'SELECT failures FROM event_streams WHERE id = $1 AND failing_since IS NOT NULL AND due_at > now()';
    expect(await app.sql(failing, [client.streamId])).toEqual([{ failures: 1 }]);
  });
});

describe('slow receivers', () => {
  /** More than the places of one process. */
  const SLOW = 60;
  /** A receiver that kept its place until its lease ended would get twice as many events. */
  const HALF_LEASE_MS = 30_000;

  it.each([1_100, 500])('do not delay the events of another client if they take %i ms', async (answerMs) => {
    const prefix = `/slow-${answerMs}-`;
    const user = { userId: await app.user() };
    receiver.answer = async ({ path }) => {
      if (path.startsWith(prefix)) await sleep(answerMs);
      return 202;
    };
    const streams: string[] = [];
    for (let n = 0; n < SLOW; n++) {
      const { client_id } = await app.client();
      const [row] = await app.sql(
        `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested)
         VALUES ($1, 'push', $2, '{}') RETURNING id`,
        [client_id, receiver.url + prefix + n],
      );
      streams.push((row as { id: string }).id);
    }
    for (const streamId of streams) await record({ streamId, ...user }, 100);
    await until('every receiver has answered', WITHIN_MS, () =>
      streams.every((_, n) => at(prefix + n).length > 0),
    );
    const client = await listening(pushTo(`/quick-${answerMs}`));
    await revoke(client);
    await arrived(`/quick-${answerMs}`);
    for (const n of streams.keys()) expect(at(prefix + n).length).toBeLessThan(HALF_LEASE_MS / answerMs);
    await app.sql('DELETE FROM event_streams WHERE id = ANY ($1)', [streams]);
  });
});

describe('a poll (RFC 8936)', () => {
  // @ssf 10.3
  it('signs an event once, so that repeated polls cost no signatures', async () => {
    // Each signature of ES256 differs.
    const client = await listening({ method: POLL }, { idTokenAlg: 'ES256' });
    await revoke(client);
    expect(await poll(client)).toEqual(await poll(client));
  });

  it('returns an event until the client acknowledges it', async () => {
    const client = await listening({ method: POLL });
    await revoke(client);
    const first = await poll(client);
    expect(typesIn(first.sets)).toEqual([REVOKED]);
    expect(await poll(client)).toEqual(first);
    expect(await poll(client, { ack: Object.keys(first.sets) })).toEqual({ sets: {}, moreAvailable: false });
  });

  it('returns at most maxEvents, oldest first, and says that more wait', async () => {
    const client = await listening({ method: POLL });
    await app.accounts.disable(client.userId);
    const first = await poll(client, { maxEvents: 1 });
    expect([typesIn(first.sets), first.moreAvailable]).toEqual([[REVOKED], true]);
    const second = await poll(client, { maxEvents: 1, ack: Object.keys(first.sets) });
    expect([typesIn(second.sets), second.moreAvailable]).toEqual([
      [`${EVENTS}/risc/event-type/account-disabled`],
      false,
    ]);
  });

  // @ssf 8.1.2
  it('keeps events while the stream is paused, and records none while it is disabled', async () => {
    const client = await listening({ method: POLL });
    const status = (value: string) =>
      client.call('post', 'status', { stream_id: client.streamId, status: value });
    await status('paused');
    await revoke(client);
    expect((await poll(client)).sets).toEqual({});
    await status('enabled');
    const { sets } = await poll(client);
    expect(typesIn(sets)).toEqual([REVOKED]);
    await status('disabled');
    await client.call('post', 'verify', { stream_id: client.streamId });
    expect((await client.call('get', `status?stream_id=${client.streamId}`)).body).toMatchObject({
      status: 'disabled',
    });
  });

  // @ssf 8.1.3 @ssf 8.1.4
  it('leaves out a subject that the client has removed, until it is added again', async () => {
    const client = await listening({ method: POLL });
    const subject = { format: 'iss_sub', iss: ISSUER, sub: String(client.userId) };
    const change = (action: string) =>
      client.call('post', `subjects/${action}`, { stream_id: client.streamId, subject });
    expect((await change('remove')).status).toBe(204);
    await revoke(client);
    expect((await poll(client)).sets).toEqual({});
    expect((await change('add')).status).toBe(200);
    await client.call('post', 'verify', { stream_id: client.streamId, state: 'abc' });
    expect(Object.values((await poll(client)).sets).map((set) => decodeJwt(set))).toEqual([
      expect.objectContaining({
        sub_id: { format: 'opaque', id: client.streamId },
        events: { [`${EVENTS}/ssf/event-type/verification`]: { state: 'abc' } },
      }),
    ]);
  });

  it('is refused for a stream whose events are pushed, with the change that permits it', async () => {
    const client = await listening(pushTo('/not-polled'));
    expect(await client.call('post', 'poll', {})).toMatchObject({
      status: 404,
      body: { error_description: expect.stringContaining('are pushed: change its delivery') as string },
    });
    await client.call('patch', 'stream', { stream_id: client.streamId, delivery: { method: POLL } });
    expect((await client.call('post', 'poll', {})).status).toBe(200);
  });

  it('refuses any number of events with one statement and one audit event', async () => {
    const client = await listening({ method: POLL });
    await record(client, 500);
    await app.sql('CREATE SEQUENCE refusals');
    await app.sql(
      `CREATE FUNCTION count_refusals() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
       $$ BEGIN PERFORM nextval('refusals'); RETURN NULL; END $$`,
    );
    await app.sql(
      'CREATE TRIGGER count_refusals AFTER UPDATE OF outcome ON events FOR EACH STATEMENT EXECUTE FUNCTION count_refusals()',
    );
    const rows = await app.sql('SELECT jti FROM events WHERE stream_id = $1', [client.streamId]);
    const setErrs = Object.fromEntries(
      (rows as { jti: string }[]).map(({ jti }) => [jti, { err: 'invalid_key' }]),
    );
    await poll(client, { maxEvents: 0, setErrs });
    expect(await app.sql("SELECT nextval('refusals')::integer - 1 AS statements")).toEqual([
      { statements: 1 },
    ]);
    const events = await auditEvents(app.natsUrl, { types: ['event.failed'], clientId: client.clientId });
    expect(events).toMatchObject([{ detail: { outcome: 'refused', failure: 'invalid_key', events: 500 } }]);
    await app.sql('DROP TRIGGER count_refusals ON events');
  });

  it.each([{ maxEvents: -1 }, { maxEvents: 'all' }, { ack: 'jti' }, { setErrs: 'x' }])(
    'rejects %j',
    async (body) => {
      const client = await listening({ method: POLL });
      expect((await client.call('post', 'poll', body)).status).toBe(400);
    },
  );
});
