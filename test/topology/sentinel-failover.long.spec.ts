import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { freePort } from '#local/servers/free-port.js';
import { isolateReplica, RedisNode } from './redis-cluster.js';
import { until } from '../support/until.js';
import { type Isolated, isolate } from '../support/isolate.js';
import { LoadedProduct } from './loaded-product.js';
import { type ClusteredProduct, startClusteredProduct } from './clustered-product.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

const MASTER = 'oauth';
/** Time after which a silent master is considered failed. The default is 30 s. */
const DOWN_AFTER_MS = 2_000;

/** A master with one replica, and three Sentinels. */
class RedisSentinel {
  private constructor(
    readonly master: RedisNode,
    readonly replica: RedisNode,
    private readonly sentinels: readonly RedisNode[],
    private readonly folder: string,
    private readonly password: string,
  ) {}

  static async start(): Promise<RedisSentinel> {
    const folder = await temporaryFolder('redis-sentinel');
    const password = randomBytes(16).toString('hex');
    const [masterPort, replicaPort] = [await freePort(), await freePort()];
    const common = [`masterauth ${password}`, 'save ""', 'repl-diskless-sync-delay 0'];
    const master = new RedisNode(masterPort, folder, password, common);
    const replica = new RedisNode(replicaPort, folder, password, [
      ...common,
      `replicaof 127.0.0.1 ${masterPort}`,
    ]);
    const watching = [
      `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
      `sentinel auth-pass ${MASTER} ${password}`,
      `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}`,
      // An election without a winner is repeated after twice this time.
      `sentinel failover-timeout ${MASTER} 2000`,
      `sentinel sentinel-pass ${password}`,
    ];
    const sentinels: RedisNode[] = [];
    for (let n = 0; n < 3; n++)
      sentinels.push(new RedisNode(await freePort(), folder, password, watching, ['--sentinel']));
    const all = new RedisSentinel(master, replica, sentinels, folder, password);
    try {
      await Promise.all([master.start(), replica.start()]);
      await until('the replica is in step', 30_000, async () =>
        (await replica.ask((redis) => redis.info('replication'))).includes('master_link_status:up'),
      );
      await Promise.all(sentinels.map((sentinel) => sentinel.start()));
      await until('the Sentinels know each other and the replica', 30_000, () => all.agree());
    } catch (error) {
      await all.stop();
      throw error;
    }
    return all;
  }

  get url(): string {
    const addresses = this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `redis-sentinel://:${this.password}@${addresses}/${MASTER}?db=1&sentinel_password=${this.password}`;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, this.master, this.replica].map((node) => node.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async agree(): Promise<boolean> {
    const seen = await Promise.all(
      this.sentinels.map((sentinel) =>
        sentinel.ask(async (redis) => (await redis.call('SENTINEL', 'MASTER', MASTER)) as object),
      ),
    );
    return seen.every((answer) => {
      const text = JSON.stringify(Array.isArray(answer) ? pairs(answer) : answer);
      return /"num-slaves":"?1"?/.test(text) && /"num-other-sentinels":"?2"?/.test(text);
    });
  }
}

function pairs(list: readonly unknown[]): object {
  return Object.fromEntries(list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1]]] : [])));
}

/** Allows for a repeated election, and for TILT mode: a Sentinel that did not run for 2 s is inactive for 30 s. */
const RECOVERY_DEADLINE_MS = 120_000;

/** Number of redemptions that are lost during the refreshes. */
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

// @reliability redis-replaced
it('all users stay connected and no code is redeemed twice when Sentinels replace the Redis master', async () => {
  const loaded = await LoadedProduct.connect(product, 3);
  const { code } = await loaded.authorizeAgain();
  const report = await loaded.failOver({
    // The replica stays stopped until every app has noticed the outage, so that it misses the last writes.
    fail: async ({ redeemed }) => {
      await isolateReplica(redis.replica, redis.master);
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
  // Redis has lost the redemption, but not the code.
  expect((await loaded.application.redeem(code)).status).toBe(400);
  expect(await loaded.replayCodes(report)).toEqual([400]);
});
