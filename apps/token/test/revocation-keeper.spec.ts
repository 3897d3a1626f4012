import { setTimeout as sleep } from 'node:timers/promises';
import request from 'supertest';
import { Interposer } from '#testing/interposer.js';
import { REDIRECT_URI } from '#testing/fixture.js';
import { startTokenApp, type TokenApp } from './token-app.js';

let app: TokenApp;
let database: Interposer;
let redis: Interposer;

beforeAll(async () => {
  app = await startTokenApp(async ({ databaseUrl, redisUrl }) => {
    [database, redis] = await Promise.all([Interposer.to(databaseUrl), Interposer.to(redisUrl)]);
    return { DATABASE_URL: database.url, REDIS_URL: redis.url };
  });
});

afterAll(async () => {
  await app.close();
  for (const interposer of [database, redis]) interposer.close();
});

it('applies recent revocations to a Redis that lost them, be PostgreSQL away just then', async () => {
  const client = await app.client();
  const code = await app.code(client.client_id, await app.user());
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
  const { body: pair } = await request(app.server).post('/api/auth/oauth/token').send(body);
  const { access_token: token } = pair as { access_token: string };
  const key = `grant:${app.grantIdOf(token)}`;
  const before = await app.redis.dumpBuffer(key);
  await request(app.server)
    .post('/api/auth/oauth/revoke')
    .send({ token, ...client })
    .expect(200);
  expect(await app.redis.hget(key, 'status')).toBe('revoked');

  // PostgreSQL is away: whatever the app begins to say to it is cut off.
  const tried = new Promise<void>((resolve) => {
    database.alter = (bytes) => {
      database.cut();
      resolve();
      return bytes;
    };
  });
  database.cut();
  // A fail-over to a replica that had not heard of it.
  await app.redis.restore(key, 0, before, 'REPLACE');
  redis.cut();
  await tried;
  expect(await app.redis.hget(key, 'status')).toBe('active');
  database.alter = (bytes) => bytes;
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50))
    if ((await app.redis.hget(key, 'status')) === 'revoked') break;
  expect(await app.redis.hget(key, 'status')).toBe('revoked');
});
