import { type Isolated, isolate } from '../support/isolate.js';
import { until } from '../support/until.js';
import { RedisSentinel } from './redis-sentinel.js';
import { LoadedProduct } from './loaded-product.js';
import { type ClusteredProduct, startClusteredProduct } from './clustered-product.js';

/** The master is replaced after 2 s of silence and an election, or several; a busy machine takes longer. */
const RECOVERY_DEADLINE_MS = 60_000;

/** Codes whose redemption is lost. The sessions are refreshed meanwhile. */
const LOST_REDEMPTIONS = 5;

let services: Isolated;
let redis: RedisSentinel;
let product: ClusteredProduct;

beforeAll(async () => {
  [services, redis] = await Promise.all([isolate(), RedisSentinel.start()]);
  const { natsUrl, databaseUrl } = services;
  const urls = { REDIS_URL: redis.url, NATS_URL: natsUrl, DATABASE_URL: databaseUrl };
  product = await startClusteredProduct(urls, 1);
});

afterAll(async () => {
  await product?.stop();
  await redis?.stop();
  await services?.close();
});

it('no user is logged out and no code is redeemed twice when Sentinels replace the Redis master', async () => {
  const loaded = await LoadedProduct.connect(product, 3);
  const { code } = await loaded.authorizeAgain();
  const report = await loaded.failOver({
    // The replica is stopped until every app has noticed the outage, and does not have the last writes.
    fail: async ({ redeemed }) => {
      await redis.isolateReplica();
      expect((await loaded.application.redeem(code)).status).toBe(200);
      const enough = redeemed.length + LOST_REDEMPTIONS;
      await until('redemptions are lost', RECOVERY_DEADLINE_MS, () => redeemed.length >= enough);
      await redis.master.kill();
    },
    missingDependency: 'redis',
    repair: async () => redis.replica.signal('SIGCONT'),
    withinMs: RECOVERY_DEADLINE_MS,
  });
  expect(report.faults).toEqual([]);
  expect(report.delayed).toBeGreaterThan(0);
  expect(report.longest).toBeLessThan(RECOVERY_DEADLINE_MS);
  // Its redemption is lost, but not the code.
  expect((await loaded.application.redeem(code)).status).toBe(400);
  expect(await loaded.replayCodes(report)).toEqual([400]);
});
