import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { RedisNode } from '#test/topology/redis-node.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

let folder: string;
let node: RedisNode;
let fixture: ReconcilerFixture;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-redis-'));
  const password = randomBytes(16).toString('hex');
  const settings = ['save ""', 'maxmemory-policy noeviction'];
  node = await new RedisNode(await freePort(), folder, password, settings).start();
  fixture = await openReconcilerFixture({ redisUrl: `redis://:${password}@127.0.0.1:${node.port}` });
  fixture.reconciler.onApplicationBootstrap();
});

afterAll(async () => {
  await fixture.close();
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

const mayUse = (memory: string) => node.ask((redis) => redis.config('SET', 'maxmemory', memory));

it('a revocation that a full Redis has rejected is applied as soon as Redis has room', async () => {
  const id = await fixture.grant();
  await mayUse('1mb');
  await fixture.recordRevocation(id);
  await fixture.failsAPass();
  expect(await fixture.statusOf(id)).toBeNull();
  await mayUse('0');
  await fixture.becomesRevoked(id);
});
