import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NewPushedRequest, PushedRequestStore, type PushLimit } from '#grants/pushed-request.store.js';
import { type RedisClient, redisClient } from '#platform/redis/redis-client.js';
import { RedisCluster } from '#test/topology/redis-cluster.js';
import { until } from '#test/support/until.js';

const LIFETIME = 300;
const MINUTE = 60_000;

/** Redis Cluster, which rejects scripts that use keys of several slots. */
let servers: RedisCluster;
let redis: RedisClient;
let store: PushedRequestStore;

beforeAll(async () => {
  servers = await RedisCluster.start();
  redis = redisClient(servers.url);
  store = new PushedRequestStore(redis);
  await until('it is connected', 60_000, async () => redis.status === 'ready');
});

afterAll(async () => {
  redis?.disconnect();
  await servers?.stop();
});

const unique = () => randomBytes(8).toString('hex');
const request = (clientId: string, lifetime = LIFETIME): NewPushedRequest => ({
  id: unique(),
  clientId,
  parameters: '{}',
  lifetime,
});
const limit = (counter: PushLimit['counter'], key: string, max: number): PushLimit => ({ counter, key, max });
const stored = (id: string) => redis.exists(`{par}:request:${id}`);
const left = (id: string) => redis.pttl(`{par}:request:${id}`);
/** Milliseconds until the client's counter drops the request. */
const counts = async (clientId: string, id: string) =>
  Number(await redis.zscore(`{par}:client:${clientId}`, id)) - Date.now();

describe('pushes', () => {
  it.each(['client', 'address', 'site'] as const)(
    'are stored up to the limit of the %s, even if concurrent',
    async (which) => {
      const names = { client: unique(), address: unique(), site: unique() };
      const limits = (['client', 'address', 'site'] as const).map((counter) =>
        limit(counter, names[counter], counter === which ? 20 : 1_000),
      );
      const pushes = Array.from({ length: 50 }, () => request(names.client));
      const answers = await Promise.all(pushes.map((push) => store.push(push, limits)));
      expect(answers.filter((refusal) => refusal === null)).toHaveLength(20);
      for (const refusal of answers.filter((answer) => answer !== null)) {
        expect(refusal.counter).toBe(which);
        expect(refusal.retryAfter).toBeGreaterThan(0);
        expect(refusal.retryAfter).toBeLessThanOrEqual(which === 'client' ? LIFETIME : 2 * LIFETIME);
      }
      const kept = await Promise.all(pushes.map(({ id }) => stored(id)));
      expect(kept).toEqual(answers.map((refusal) => (refusal === null ? 1 : 0)));
      for (const counter of ['client', 'address', 'site'] as const)
        expect(await redis.zcard(`{par}:${counter}:${names[counter]}`)).toBe(20);
    },
  );

  it('are not counted if refused, and report the longest wait', async () => {
    const [client, address] = [unique(), unique()];
    const limits = [limit('client', client, 1), limit('address', address, 1)];
    await store.push(request(unique(), 250), [limit('address', address, 1)]);
    await store.push(request(client, 100), [limit('client', client, 1)]);
    const refusal = await store.push(request(client), limits);
    expect(refusal).toEqual({ counter: 'address', retryAfter: expect.any(Number) });
    expect(refusal?.retryAfter).toBeGreaterThan(100);
    expect(await redis.zcard(`{par}:client:${client}`)).toBe(1);
    expect(await redis.zcard(`{par}:address:${address}`)).toBe(1);
  });
});

describe('a counter of pushed requests', () => {
  it('frees a place when a request expires, and expires with its last request', async () => {
    const [client, address] = [unique(), unique()];
    const limits = [limit('client', client, 3), limit('address', address, 3)];
    for (let n = 0; n < 3; n += 1) expect(await store.push(request(client), limits)).toBeNull();
    expect(await store.push(request(client), limits)).not.toBeNull();
    for (const [name, lifetimes] of [
      [`{par}:client:${client}`, 1],
      [`{par}:address:${address}`, 2],
    ] as const) {
      expect(await redis.pttl(name)).toBeGreaterThan((lifetimes - 1) * LIFETIME * 1000);
      expect(await redis.pttl(name)).toBeLessThanOrEqual(lifetimes * LIFETIME * 1000);
      // Makes the entries expire.
      for (const id of await redis.zrange(name, '0', '-1'))
        await redis.zadd(name, String(Date.now() - 1_000), id);
    }
    expect(await store.push(request(client), limits)).toBeNull();
    expect(await redis.zcard(`{par}:client:${client}`)).toBe(1);
  });

  it('accepts as many new requests as have expired', async () => {
    const client = unique();
    const most = [limit('client', client, 2)];
    await store.push(request(client, 1), most);
    await store.push(request(client), most);
    while ((await store.push(request(client), most)) !== null) await sleep(20);
    expect(await redis.zcard(`{par}:client:${client}`)).toBe(2);
    expect(await store.push(request(client), most)).not.toBeNull();
  });
});

describe('a pushed request', () => {
  const pushed = async () => {
    const push = request(unique());
    await store.push(push, [limit('client', push.clientId, 10)]);
    return push;
  };

  it('can be opened repeatedly without a login, but only the first open adds 5 minutes for the login', async () => {
    const { id, clientId } = await pushed();
    await redis.pexpire(`{par}:request:${id}`, 30_000);
    for (let time = 0; time < 3; time += 1)
      expect(await store.open(id, clientId, false)).toEqual({ outcome: 'open', parameters: '{}' });
    expect(await left(id)).toBeGreaterThan(30_000);
    expect(await left(id)).toBeLessThanOrEqual(5 * MINUTE + 30_000);
    expect(await counts(clientId, id)).toBeLessThanOrEqual(5 * MINUTE + 31_000);
    await redis.pexpire(`{par}:request:${id}`, 30_000);
    await store.open(id, clientId, false);
    expect(await left(id)).toBeLessThanOrEqual(30_000);
  });

  it.each(['with', 'without'])(
    'lives and counts for 15 minutes after a logged-in browser first opens it, %s an earlier visit',
    async (visit) => {
      const { id, clientId } = await pushed();
      if (visit === 'with') await store.open(id, clientId, false);
      await store.open(id, clientId, true);
      expect(await left(id)).toBeGreaterThan(2 * LIFETIME * 1000);
      expect(await left(id)).toBeLessThanOrEqual(15 * MINUTE);
      expect(await counts(clientId, id)).toBeGreaterThan(2 * LIFETIME * 1000);
      expect(await redis.pttl(`{par}:client:${clientId}`)).toBeGreaterThan(2 * LIFETIME * 1000);
      await redis.pexpire(`{par}:request:${id}`, 30_000);
      await store.open(id, clientId, true);
      expect(await left(id)).toBeLessThanOrEqual(30_000);
    },
  );

  it('frees its place within a minute after its answer, unless the answer is undone', async () => {
    const { id, clientId } = await pushed();
    expect(await store.answer(id, clientId, null, MINUTE / 1000)).toMatchObject({ outcome: 'open' });
    expect(await store.answer(id, clientId, null, MINUTE / 1000)).toEqual({
      outcome: 'answered',
      parameters: '',
    });
    expect(await left(id)).toBeLessThanOrEqual(MINUTE);
    expect(await counts(clientId, id)).toBeLessThanOrEqual(MINUTE + 1_000);
    await store.reopen(id, clientId);
    expect(await left(id)).toBeGreaterThan(LIFETIME * 1000);
    expect(await store.answer(id, clientId, null, MINUTE / 1000)).toMatchObject({ outcome: 'open' });
  });

  it('does not live longer if it is answered just before it expires', async () => {
    const { id, clientId } = await pushed();
    await redis.pexpire(`{par}:request:${id}`, 30_000);
    await store.answer(id, clientId, null, MINUTE / 1000);
    expect(await left(id)).toBeLessThanOrEqual(30_000);
  });
});
