import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-node.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

let redis: PrivateRedis;
let fixture: ReconcilerFixture;

beforeAll(async () => {
  redis = await startPrivateRedis(['maxmemory-policy noeviction']);
  fixture = await openReconcilerFixture({ redisUrl: redis.url });
  fixture.reconciler.onApplicationBootstrap();
});

afterAll(async () => {
  await fixture.close();
  await redis.close();
});

const mayUse = (memory: string) => redis.node.ask((client) => client.config('SET', 'maxmemory', memory));

it('a revocation that a full Redis has rejected is applied as soon as Redis has room', async () => {
  const id = await fixture.grant();
  await mayUse('1mb');
  await fixture.recordRevocation(id);
  await fixture.failsAPass();
  expect(await fixture.statusOf(id)).toBeNull();
  await mayUse('0');
  await fixture.becomesRevoked(id);
});
