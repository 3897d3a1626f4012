import request from 'supertest';
import { ClientStore } from '#clients/client.store.js';
import { databaseDataSource } from '#database/data-source.js';
import type { IntrospectedToken } from '#grants/grant.js';
import { INVALIDATIONS, type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { Introspector } from '#introspection/introspector.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { until } from '#test/support/until.js';
import { DisabledClientsService } from '../../src/introspection/disabled-clients.service.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';
import type { Pair } from '#test/support/tokens.js';
import { disableClients } from '#test/support/stored.js';

const PATIENCE_MS = 60_000;

let app: TokenApp;
let postgres: FaultProxy;
let databaseUrl: string;
let userId: number;
let client: TestClient;
let other: TestClient;

beforeAll(async () => {
  app = await startTokenApp(async (services) => {
    ({ databaseUrl } = services);
    postgres = await FaultProxy.start(databaseUrl);
    return { DATABASE_URL: postgres.url };
  });
  userId = await app.user();
});

beforeEach(async () => {
  [client, other] = [await app.client(), await app.client()];
});

afterAll(async () => {
  await app.close();
  await postgres.close();
});

const send = (path: string, body: object) => request(app.server).post(`/api/auth/oauth/${path}`).send(body);

async function tokenOf(client: TestClient): Promise<string> {
  const code = await app.code(client.client_id, userId);
  const answer = await send('token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...client,
  });
  expect(answer.status).toBe(200);
  return (answer.body as Pair).access_token;
}

const introspect = (token: string) => app.ask<IntrospectionReply | undefined>(SUBJECTS.introspect, { token });

const announce = ({ client_id }: TestClient) => app.announce(SUBJECTS.clientChanged, { client_id });

async function set(client: TestClient, disabled: boolean): Promise<void> {
  await app.registrations.setDisabled(client.client_id, disabled);
  await announce(client);
  await app.settled();
}

/** Subscribes immediately, and resolves after this number of broadcasts about the client. */
function broadcastsAbout({ client_id }: TestClient, times = 1): Promise<void> {
  let left = times;
  return new Promise((resolve) => {
    const stop = app.hear(SUBJECTS.clientChanged, (event) => {
      if ((event as { client_id: string }).client_id !== client_id || --left > 0) return;
      stop();
      resolve();
    });
  });
}

describe('a client that the operator disables', () => {
  // @rfc 7662 2.2
  it('has no active token until it is enabled again', async () => {
    const [token, another] = [await tokenOf(client), await tokenOf(other)];
    const { secret, hash } = generateClientSecret();
    const { id } = await app.resourceServers.create('Bookings API', hash);
    const server = { client_id: id, client_secret: secret };
    const overHttp = async (token: string) => (await send('introspect', { token, ...server })).body;
    expect([await introspect(token), await overHttp(token)]).toMatchObject([
      { active: true },
      { active: true },
    ]);
    await set(client, true);
    expect([await introspect(token), await overHttp(token)]).toEqual([{ active: false }, { active: false }]);
    expect([await introspect(another), await overHttp(another)]).toMatchObject([
      { active: true },
      { active: true },
    ]);
    await set(client, false);
    expect([await introspect(token), await overHttp(token)]).toMatchObject([
      { active: true },
      { active: true },
    ]);
  });

  it('has no active token after its deletion, even before Redis contains the revocations', async () => {
    const token = await tokenOf(client);
    await set(client, true);
    // Simulates a command that was killed: the grants are revoked in PostgreSQL but active in Redis.
    await app.registrations.delete(client.client_id);
    await announce(client);
    await app.settled();
    expect(await introspect(token)).toEqual({ active: false });
  });

  // @rfc 6749 5.2
  it('gets invalid_client at token, revocation and push endpoints, but the reason only after authentication', async () => {
    const code = await app.code(client.client_id, userId);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
    await set(client, true);
    const requests: [string, object][] = [
      ['token', exchange],
      ['token', { grant_type: 'refresh_token', refresh_token: 'srt_x' }],
      ['refreshToken', { grant_type: 'refresh_token', refresh_token: 'srt_x' }],
      ['revoke', { token: 'srt_x' }],
      ['par', { redirect_uri: REDIRECT_URI, state: 's' }],
    ];
    for (const [path, body] of requests) {
      const answer = await send(path, { ...body, ...client });
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({
        error: 'invalid_client',
        error_description: expect.stringContaining('the operator has disabled this client'),
      });
      const guess = await send(path, { ...body, ...client, client_secret: 'scs_guessed' });
      expect(guess.body).toMatchObject({
        error: 'invalid_client',
        error_description: 'unknown client, or a wrong client_secret',
      });
    }
    await set(client, false);
    expect((await send('token', { ...exchange, ...client })).status).toBe(200);
  });

  it('is refused even if it is a public client', async () => {
    const phone = await app.publicClient('com.example.app:/callback');
    await set(phone as TestClient, true);
    const answer = await send('token', { grant_type: 'refresh_token', refresh_token: 'srt_x', ...phone });
    expect(answer.body).toMatchObject({ error: 'invalid_client' });
  });
});

describe("the token app's set of disabled clients", () => {
  it('is read again after a broadcast about a client, which delays introspection only of the client’s tokens', async () => {
    const [token, another] = [await tokenOf(client), await tokenOf(other)];
    await app.sql('BEGIN');
    await app.sql('LOCK TABLE clients IN ACCESS EXCLUSIVE MODE');
    await disableClients(app, client.client_id);
    await announce(client);
    await app.settled();
    const order: string[] = [];
    const waiting = introspect(token).then((reply) => order.push(`disabled: ${reply?.active}`));
    await introspect(another).then((reply) => order.push(`other: ${reply?.active}`));
    await app.sql('COMMIT');
    await waiting;
    expect(order).toEqual(['other: true', 'disabled: false']);
  });

  it('remains valid while PostgreSQL is unavailable, except for a client about which a broadcast arrives', async () => {
    const [token, another, unsure] = [await tokenOf(client), await tokenOf(other), await app.client()];
    const changed = await tokenOf(unsure);
    const broadcasts = broadcastsAbout(client, 2);
    await set(client, true);
    expect(await introspect(token)).toEqual({ active: false });
    await broadcasts;
    await app.settled();
    expect(await introspect(token)).toEqual({ active: false });
    postgres.disconnect();
    await announce(unsure);
    await app.settled();
    expect(await introspect(changed)).toBeUndefined();
    expect(await introspect(token)).toEqual({ active: false });
    expect(await introspect(another)).toMatchObject({ active: true });
    postgres.reconnect();
    await until('PostgreSQL answers', PATIENCE_MS, async () => (await introspect(changed))?.active === true);
  });

  it('causes a broadcast that evicts stale replies from the cache of an API', async () => {
    const token = await tokenOf(client);
    const api = new NatsConnection({ natsUrl: app.natsUrl, name: 'api', invalidations: INVALIDATIONS });
    await api.open();
    try {
      const introspector = new Introspector(api, { resourceUrl: 'https://api.example.com' });
      // Simulates an API that receives the operator's broadcast before the token app does, and then caches a reply.
      // The token app reads PostgreSQL every 5 s, but does not see the disabled client before the COMMIT.
      await app.sql('BEGIN');
      await disableClients(app, client.client_id);
      expect(await introspector.introspect(token)).toMatchObject({ clientId: client.client_id });
      expect(introspector.cached(token)).toBeDefined();
      const broadcasts = broadcastsAbout(client);
      await app.settled();
      await app.sql('COMMIT');
      // After any broadcast, the token app reads its set again and finds the disabled client.
      await announce(other);
      await broadcasts;
      await api.ping();
      expect(introspector.cached(token)).toBeUndefined();
      expect(await introspector.introspect(token)).toBeNull();
    } finally {
      await api.close();
    }
  });
});

describe('a token app without the operator’s broadcast', () => {
  const active = ({ client_id: clientId }: TestClient) =>
    ({ outcome: 'active', grantId: 'a grant', grant: { clientId } }) as IntrospectedToken;

  async function startInstance(pass: number) {
    const nats = await FaultProxy.start(app.natsUrl);
    const dataSource = await databaseDataSource(databaseUrl).initialize();
    const connection = new NatsConnection({ natsUrl: nats.url, name: 'token', invalidations: INVALIDATIONS });
    await connection.open();
    const clients = new DisabledClientsService(new ClientStore(dataSource), connection, { pass, retry: 100 });
    return {
      nats,
      clients,
      isDisabled: async (client: TestClient) =>
        (await clients.check(active(client))).outcome === 'client_disabled',
      close: async (): Promise<void> => {
        clients.onApplicationShutdown();
        await connection.close();
        await dataSource.destroy();
        await nats.close();
      },
    };
  }

  const NEVER = 2 ** 31 - 1;

  it('reads PostgreSQL at startup before it reports a token as active', async () => {
    await app.registrations.setDisabled(client.client_id, true);
    const { clients, isDisabled, close } = await startInstance(NEVER);
    expect([await isDisabled(client), await isDisabled(other)]).toEqual([true, false]);
    clients.onApplicationBootstrap();
    await close();
  });

  it('reads PostgreSQL again after NATS reconnects', async () => {
    const { nats, clients, isDisabled, close } = await startInstance(NEVER);
    clients.onApplicationBootstrap();
    expect(await isDisabled(client)).toBe(false);
    nats.disconnect();
    await app.registrations.setDisabled(client.client_id, true);
    await announce(client);
    nats.reconnect();
    await until('it has read', PATIENCE_MS, () => isDisabled(client));
    await close();
  });

  it('reads PostgreSQL again periodically', async () => {
    const { clients, isDisabled, close } = await startInstance(50);
    clients.onApplicationBootstrap();
    expect(await isDisabled(client)).toBe(false);
    await app.registrations.setDisabled(client.client_id, true);
    await until('it has read', PATIENCE_MS, () => isDisabled(client));
    await app.registrations.setDisabled(client.client_id, false);
    await until('it has read again', PATIENCE_MS, async () => !(await isDisabled(client)));
    await close();
  });
});
