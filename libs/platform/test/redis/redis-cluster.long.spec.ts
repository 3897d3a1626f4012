import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cluster } from 'ioredis';
import { PlatformModule } from '#platform/bootstrap/platform.module.js';
import { Readiness } from '#platform/health/readiness.js';
import { REDIS, RedisConnection } from '#platform/redis/redis.connection.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { RedisCluster } from '#test/topology/redis-cluster.js';
import { until } from '#test/support/until.js';

@Module({})
class Root {}

/** Keys in slots of three different masters. */
const [FIRST, SECOND, THIRD] = ['grant:b', 'grant:foo', 'grant:a'];
const KEYS = [FIRST, SECOND, THIRD];
const COUNT = `{${FIRST}}count`;

type Scripted = Cluster & { take: (key: string) => Promise<string> };

let servers: RedisCluster;
let app: INestApplicationContext;
let redis: Scripted;

beforeAll(async () => {
  servers = await RedisCluster.start();
  // The timeout is long, because some commands take seconds on a busy machine.
  const imports = [
    PlatformModule.forRoot(),
    RedisModule.forRoot({ process: 'token', redisUrl: servers.url, timeoutMs: 5_000 }),
  ];
  app = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
  redis = app.get<Scripted>(REDIS);
  redis.defineCommand('take', { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])" });
  await until('it is connected', 60_000, () => redis.status === 'ready');
});

afterAll(async () => {
  await app.close();
  await servers.stop();
});

const missing = async () =>
  [...(await app.get(Readiness).missing()).keys()].filter((name) => name === 'redis');

/** Script that runs the build in dist and disconnects during a refresh of the slot map. */
const DISCONNECTS_DURING_REFRESH = `
const { redisClient } = await import('#platform/redis/redis-client.js');
const redis = redisClient(process.env.REDIS_URL);
await new Promise((ready) => redis.once('ready', ready));
await new Promise((resolve) => setTimeout(resolve, 500));
while (!redis.isRefreshing) await new Promise(setImmediate);
redis.disconnect();`;

describe('the connection to a Redis Cluster', () => {
  it('does not keep the process alive after disconnecting during a refresh of the slot map', async () => {
    const args = ['--input-type=module', '-e', DISCONNECTS_DURING_REFRESH];
    const env = { PATH: process.env['PATH'], REDIS_URL: servers.url };
    await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
  });

  it('sends each command and script to the master of its key, even if the master lacks the script', async () => {
    expect(new Set(await Promise.all(KEYS.map((key) => servers.masterOf(key)))).size).toBe(3);
    await Promise.all(KEYS.map((key) => redis.set(key, key)));
    expect(await Promise.all(KEYS.map((key) => redis.take(key)))).toEqual(KEYS);
    await Promise.all(servers.nodes.map((node) => node.ask((client) => client.script('FLUSH'))));
    expect(await Promise.all(KEYS.map((key) => redis.take(key)))).toEqual(KEYS);
  });

  it('fails a command whose reply was lost, and does not repeat it on the promoted master', async () => {
    const master = await servers.masterOf(FIRST);
    // Pauses the replica, so that the failover happens after the outage was observed.
    const replica = await servers.replicaOf(master);
    replica.signal('SIGSTOP');
    let others = 0;
    app.get(RedisConnection).onReady(() => (others += 1));
    const before = others;
    master.signal('SIGSTOP');
    const counted = redis.incr(COUNT);
    const failed = expect(counted).rejects.toThrow();
    await master.kill();
    await failed;
    await until('the outage is reported', 60_000, async () => (await missing()).length === 1);
    replica.signal('SIGCONT');
    await until('another master has taken over', 60_000, async () => (await missing()).length === 0);
    expect(await redis.get(COUNT)).toBeNull();
    expect(others).toBeGreaterThan(before);
  });

  it('abandons a silent master, and serves the keys of other masters before the timeout', async () => {
    (await servers.masterOf(SECOND)).signal('SIGSTOP');
    let isDone = false;
    const silent = expect(redis.get(SECOND).finally(() => (isDone = true))).rejects.toThrow();
    expect(await Promise.all([redis.get(FIRST), redis.get(THIRD)])).toEqual([FIRST, THIRD]);
    expect(isDone).toBe(false);
    // Without the socket timeout, the kernel would retransmit for a quarter of an hour.
    await silent;
    await until('another master serves its slots', 60_000, async () => (await redis.get(SECOND)) === SECOND);
  });
});
