import { NatsCluster } from './nats-cluster.js';
import { PostgresPair } from './postgres-pair.js';
import { RedisCluster } from './redis-cluster.js';
import { until } from '../support/until.js';
import { LoadedProduct } from './loaded-product.js';
import { type ClusteredProduct, startClusteredProduct } from './clustered-product.js';
import { type LostWrites, loseLatestWrites } from './lost-writes.js';
import { pairOf, type RetryingClient } from './retrying-client.js';

/**
 * Time limit of a fail-over. Redis replaces a master after 2 s of silence and an election, and NATS requests time out
 * after 2 s, but a busy machine takes longer.
 */
const RECOVERY_DEADLINE_MS = 60_000;

let redis: RedisCluster;
let nats: NatsCluster;
let postgres: PostgresPair;
let product: ClusteredProduct;
let loaded: LoadedProduct;

beforeAll(async () => {
  [redis, nats, postgres] = await Promise.all([
    RedisCluster.start(),
    NatsCluster.start(),
    PostgresPair.start(),
  ]);
  const urls = { REDIS_URL: redis.url, NATS_URL: nats.url, DATABASE_URL: postgres.url };
  product = await startClusteredProduct(urls, 2);
  loaded = await LoadedProduct.connect(product, 4);
});

afterAll(async () => {
  await product?.stop();
  await Promise.all([redis?.stop(), nats?.stop(), postgres?.stop()]);
});

describe('the product under load', () => {
  // @reliability connected
  it('keeps all users connected after the loss of a NATS server', async () => {
    const before = await nats.clients('resource');
    let lost = 0;
    const fail = async () => (lost = await nats.killServerOf('resource'));
    const report = await loaded.failOver({ fail, withinMs: RECOVERY_DEADLINE_MS });
    expect(lost).toBeGreaterThan(0);
    await until('every process is at another server', RECOVERY_DEADLINE_MS, async () => {
      return (await nats.clients('resource')) === before;
    });
    expect(report.faults).toEqual([]);
    expect(report.longest).toBeLessThan(RECOVERY_DEADLINE_MS);
    expect(await loaded.replayCodes(report)).toEqual([400]);
  });

  // @reliability connected @reliability postgresql-down
  it('keeps all users connected after the loss of the PostgreSQL primary', async () => {
    const report = await loaded.failOver({
      fail: () => postgres.killPrimary(),
      missingDependency: 'postgres',
      repair: () => postgres.promote(),
      withinMs: RECOVERY_DEADLINE_MS,
    });
    expect(report.faults).toEqual([]);
    expect(report.longest).toBeLessThan(RECOVERY_DEADLINE_MS);
    expect(await loaded.replayCodes(report)).toEqual([400]);
  });

  // @reliability connected @reliability redis-replaced
  it('keeps all users connected after the loss of a Redis Cluster master', async () => {
    const master = await redis.masterOf('any key');
    const replica = await redis.replicaOf(master);
    const report = await loaded.failOver({
      // The replica stays stopped until every app has noticed the outage, which could otherwise be too short.
      fail: () => (replica.signal('SIGSTOP'), master.kill()),
      missingDependency: 'redis',
      repair: async () => replica.signal('SIGCONT'),
      withinMs: RECOVERY_DEADLINE_MS,
    });
    expect(report.faults).toEqual([]);
    expect(report.delayed).toBeGreaterThan(0);
    expect(report.longest).toBeLessThan(RECOVERY_DEADLINE_MS);
    expect(await loaded.replayCodes(report)).toEqual([400]);
    // The old master restarts as a replica of the new one.
    await master.start();
  });
});

describe('the loss of a Redis Cluster master and its last writes', () => {
  let application: RetryingClient;
  let lost: LostWrites;

  beforeAll(async () => {
    ({ application } = loaded);
    lost = await loseLatestWrites(redis, product, loaded);
  });

  it('leaves a redeemed code invalid and its client connected', async () => {
    const again = await application.redeem(lost.redeemed);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('a server failed')]);
    expect((await application.me(lost.first.access_token)).status).toBe(200);
    const next = pairOf(await application.refresh(lost.first.refresh_token));
    expect((await application.me(next.access_token)).status).toBe(200);
  });

  it('invalidates codes that were not redeemed', async () => {
    // The server rejects the code, because an earlier redemption cannot be ruled out.
    expect((await application.redeem(lost.unredeemed)).status).toBe(400);
    const { code } = await loaded.authorizeAgain();
    expect((await application.redeem(code)).status).toBe(200);
  });

  it('does not invalidate the newest refresh token', async () => {
    // Refreshes first, because an introspection of the access token would also restore the generation.
    expect((await application.refresh(lost.rotated.refresh_token)).status).toBe(200);
    expect((await application.me(lost.rotated.access_token)).status).toBe(200);
  });

  // @reliability redis-lost-second
  it('does not undo a revocation', async () => {
    await until(
      'the access token is refused',
      RECOVERY_DEADLINE_MS,
      async () => (await application.me(lost.revoked.access_token)).status === 401,
    );
    expect((await application.refresh(lost.revoked.refresh_token)).status).toBe(400);
  });
});
