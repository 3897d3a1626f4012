import request from 'supertest';
import { jest } from '@jest/globals';
import { type GrantRevoked, SUBJECTS } from '#messaging/contract.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { storedGrant } from '#test/support/stored.js';
import { until } from '#test/support/until.js';
import { FIELD, STATUS } from '#grants/grant-hash.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

describe('revocation reconciler', () => {
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
});

describe('reconciler pass', () => {
  const HOUR = 3_600_000;
  const MANY = 1_200;

  let fixture: ReconcilerFixture;

  beforeEach(async () => {
    fixture = await openReconcilerFixture();
  });

  afterEach(() => fixture.close());

  /** Runs a pass, by default over the last hour. @returns number of revocations that Redis did not have */
  async function pass({
    announceAll = false,
    since = -HOUR,
    isObsolete = (): boolean => false,
  } = {}): Promise<number> {
    const now = await fixture.records.databaseTime();
    return fixture.revocations.reconcile({ since: now + since, until: now, announceAll, isObsolete });
  }

  /** Records revocations in PostgreSQL only, one per second. @returns ids, newest first */
  async function recordMany(): Promise<string[]> {
    const id = await fixture.grant();
    const rows = (await fixture.sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime, revoked_at)
     SELECT left(id, 38) || lpad(i::text, 5, '0'), user_id, client_id, scope, requested_scope, expires_at, lifetime,
            now() - i * interval '1 second'
     FROM grants, generate_series(1, ${MANY}) i WHERE id = $1 RETURNING id`,
      [id],
    )) as { id: string }[];
    return rows.map((row) => row.id);
  }

  async function heardWhile(work: () => Promise<unknown>): Promise<string[]> {
    // Waits until messages that were sent before this call have arrived at the reconciler's connection.
    await fixture.connection.ping();
    const received: string[] = [];
    const stop = fixture.hear(SUBJECTS.grantRevoked, (event) =>
      received.push((event as { grant_id: string }).grant_id),
    );
    await fixture.settled();
    await work();
    // NATS delivers `the.end` after the broadcasts of `work`, because the reconciler's connection publishes both.
    const end = fixture.hear('the.end', () => received.push('the end'));
    await fixture.settled();
    fixture.connection.publish('the.end', { grant_id: '' });
    await until('the end is heard', 60_000, () => received.at(-1) === 'the end');
    stop();
    end();
    return received.slice(0, -1);
  }

  async function appliedWhile(work: () => Promise<unknown>): Promise<string[]> {
    const keys: string[] = [];
    const stop = await monitorRedis(fixture.services.redisUrl, ([name, key = ''], source) => {
      if (source === 'lua' && name?.toLowerCase() === 'hget' && key.startsWith('grant:')) keys.push(key);
      if (key === 'the end') keys.push(key);
    });
    await work();
    await fixture.redis.exists('the end');
    await until('the end is heard', 60_000, () => keys.at(-1) === 'the end');
    stop();
    return keys.slice(0, -1);
  }

  it('a pass applies the newest revocations first, so that they do not wait for old revocations', async () => {
    const ids = await recordMany();
    expect(await appliedWhile(pass)).toEqual(ids.map((id) => `grant:${id}`));
  });

  it('a pass broadcasts only revocations that are not marked as applied or that Redis has lost', async () => {
    const [known, lost, outstanding] = [await fixture.grant(), await fixture.grant(), await fixture.grant()];
    for (const id of [known, lost]) await fixture.recordRevocation(id);
    await pass();
    await fixture.redis.del(`grant:${lost}`);
    // Another process wrote to Redis, and died before its broadcast.
    await fixture.recordRevocation(outstanding);
    await fixture.redis.hset(`grant:${outstanding}`, FIELD.status, STATUS.revoked);
    let changed = 0;
    expect((await heardWhile(async () => (changed = await pass()))).toSorted()).toEqual(
      [lost, outstanding].toSorted(),
    );
    expect(changed).toBe(1);
  });

  it('a pass broadcasts all revocations if broadcasts were lost', async () => {
    const known = await fixture.grant();
    await fixture.recordRevocation(known);
    await pass();
    expect(await heardWhile(() => pass({ announceAll: true }))).toEqual([known]);
  });

  it('a pass marks applied revocations for all processes, so that later passes skip them', async () => {
    await recordMany();
    const began = await fixture.records.databaseTime();
    expect(await pass()).toBe(MANY);
    const since = (await fixture.records.databaseTime()) - began;
    // Another process applies the revocations again, because that process may use another Redis.
    expect(await appliedWhile(() => pass({ since: -since - 1_000 }))).toHaveLength(MANY);
    expect(await appliedWhile(() => pass({ since: 0 }))).toEqual([]);
  });

  it('a pass marks lost revocations again, so that the next failover is covered too', async () => {
    const id = await fixture.grant();
    await fixture.recordRevocation(id);
    await pass();
    await fixture.pass(HOUR / 2);
    await fixture.redis.del(`grant:${id}`);
    expect(await pass()).toBe(1);
    expect(await appliedWhile(() => pass({ since: -HOUR / 4 }))).toEqual([`grant:${id}`]);
  });

  it('concurrent passes apply and mark all revocations without a deadlock', async () => {
    const ids = await recordMany();
    const changed = await Promise.all([pass(), pass(), pass()]);
    expect(changed.reduce((sum, count) => sum + count, 0)).toBe(MANY);
    expect(await fixture.isMarked(ids.at(-1) ?? '')).toBe(true);
  });

  it('an obsolete pass stops applying revocations', async () => {
    await recordMany();
    expect(await appliedWhile(() => pass({ isObsolete: () => true }))).toEqual([]);
  });

  // @reliability redis-lost-second
  it('the reconciler ends its pass when Redis reconnects, and the next pass applies all revocations', async () => {
    const ids = await recordMany();
    const { records } = fixture;
    const read = records.revocationsToApply.bind(records);
    let pages = 0;
    jest.spyOn(records, 'revocationsToApply').mockImplementationOnce(async function* (from, to) {
      for await (const page of read(from, to)) {
        pages += 1;
        await fixture.reconnectRedis();
        yield page;
      }
    });
    fixture.reconciler.onApplicationBootstrap();
    await fixture.becomesRevoked(ids.at(-1) ?? '');
    expect(pages).toBe(1);
  });

  it('a pass continues after failures, because only a part of Redis may be down', async () => {
    const ids = await recordMany();
    const failing = ids.slice(0, 700);
    // The keys are not hashes, so every script on them fails.
    await fixture.redis.mset(Object.fromEntries(failing.map((id) => [`grant:${id}`, 'no hash'])));
    await expect(pass()).rejects.toThrow('WRONGTYPE');
    for (const id of [ids[700], ids.at(-1)]) expect(await fixture.statusOf(id ?? '')).toBe('revoked');
    expect(await fixture.isMarked(ids[700] ?? '')).toBe(true);
    expect(await fixture.isMarked(ids[0] ?? '')).toBe(false);
    for (const id of failing) await fixture.redis.del(`grant:${id}`);
    expect(await pass({ since: 0 })).toBe(700);
  });
});
