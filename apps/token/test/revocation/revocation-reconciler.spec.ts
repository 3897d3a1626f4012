import request from 'supertest';
import { type GrantRevoked, SUBJECTS } from '#messaging/contract.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { storedGrant } from '#test/support/stored-grant.js';
import { until } from '#test/support/until.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';

let app: TokenApp;
let database: FaultProxy;
let redis: FaultProxy;
let nats: FaultProxy;

beforeAll(async () => {
  app = await startTokenApp(async ({ databaseUrl, redisUrl, natsUrl }) => {
    database = await FaultProxy.start(databaseUrl);
    redis = await FaultProxy.start(redisUrl);
    nats = await FaultProxy.start(natsUrl);
    return { DATABASE_URL: database.url, REDIS_URL: redis.url, NATS_URL: nats.url };
  });
});

afterAll(async () => {
  await app.close();
  for (const proxy of [database, redis, nats]) await proxy.close();
});

it('the reconciler applies recent revocations to a Redis that lost them, even if PostgreSQL fails at first', async () => {
  const client = await app.client();
  const code = await app.code(client.client_id, await app.user());
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
  const { body: pair } = await request(app.server).post('/api/auth/oauth/token').send(body);
  const { access_token: token } = pair as { access_token: string };
  const id = app.grantIdOf(token);
  const key = `grant:${id}`;
  const status = async () => (await storedGrant(app.redis, id)).status;
  const before = await app.redis.dumpBuffer(key);
  await request(app.server)
    .post('/api/auth/oauth/revoke')
    .send({ token, ...client })
    .expect(200);
  expect(await status()).toBe('revoked');

  // Simulates an outage of PostgreSQL: every message of the app cuts the connection.
  const tried = new Promise<void>((resolve) => {
    database.onData = (bytes) => {
      database.cut();
      resolve();
      return bytes;
    };
  });
  database.cut();
  // Simulates a failover to a replica without the revocation.
  await app.redis.restore(key, 0, before, 'REPLACE');
  redis.cut();
  await tried;
  expect(await status()).toBe('active');
  database.onData = () => undefined;
  await until('it is applied again', 60_000, async () => (await status()) === 'revoked');
});

// @reliability nats-partition
it('the reconciler broadcasts recent revocations again after an outage of NATS, because caches missed them', async () => {
  const client = await app.client();
  const id = app.grantIdOf(await app.code(client.client_id, await app.user()));
  const received: string[] = [];
  const stop = app.hear(SUBJECTS.grantRevoked, (event) => received.push((event as GrantRevoked).grant_id));
  await app.records.revoke(id);
  await until('it is broadcast', 60_000, () => received.includes(id));
  received.length = 0;
  nats.cut();
  await until('it is broadcast again', 60_000, () => received.includes(id));
  stop();
});
