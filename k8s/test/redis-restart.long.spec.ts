import { Redis } from 'ioredis';
import { redisStatus } from '#platform/redis/redis.module.js';
import { redisFiles, runRedis } from './servers.js';
import { ownSettings } from './settings.js';
import { rm } from 'node:fs/promises';

/** Keys that the user of the console may write. */
const KEYS = ['in a transaction', 'also', 'in a script', 'too', 'alone'].map((name) => `console:${name}`);

/** Runs Redis with the shipped configuration until `work` ends. */
async function withRedis<T>(
  files: Awaited<ReturnType<typeof redisFiles>>,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { url, process } = await runRedis(files);
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
    await process.stop();
  }
}

it('Redis of a development installation keeps transactions and scripts over a restart', async () => {
  const settings = await ownSettings();
  const files = await redisFiles(settings.folder);
  try {
    await withRedis(files, async (redis) => {
      await redis.multi().set('console:in a transaction', '1').set('console:also', '1').exec();
      await redis.eval(
        "redis.call('SET', KEYS[1], '1') redis.call('SET', KEYS[2], '1')",
        2,
        'console:in a script',
        'console:too',
      );
      await redis.set('console:alone', '1');
      expect(await redisStatus(redis)).toMatchObject({ appendonly: 'yes', aof_replay: 'yes' });
    });
    const kept = await withRedis(files, (redis) => Promise.all(KEYS.map((key) => redis.get(key))));
    expect(kept).toEqual(['1', '1', '1', '1', '1']);
  } finally {
    await settings.remove();
    await rm(files.folder, { recursive: true, force: true });
  }
});
