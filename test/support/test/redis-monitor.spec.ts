import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { type Isolated, isolate } from '../isolate.js';
import { monitorRedis } from '../redis-monitor.js';

let here: Isolated;
let elsewhere: Isolated;
let redis: Redis;
let neighbour: Redis;

beforeAll(async () => {
  [here, elsewhere] = await Promise.all([isolate(), isolate()]);
  [redis, neighbour] = [new Redis(here.redisUrl), new Redis(elsewhere.redisUrl)];
  // After these replies, the handshakes have finished.
  await Promise.all([redis.ping(), neighbour.ping()]);
});

afterAll(async () => {
  redis.disconnect();
  neighbour.disconnect();
  await Promise.all([here.close(), elsewhere.close()]);
});

it('the monitor reports commands in order with their source', async () => {
  const commands: [string, ...string[]][] = [];
  const stop = await monitorRedis(here.redisUrl, (command, source) =>
    commands.push([source === 'lua' ? 'lua' : 'client', ...command]),
  );
  await redis.set('a "b"', 'c\\d e');
  await redis.eval("return redis.call('GET', KEYS[1])", 1, 'x');
  const end = randomUUID();
  await redis.echo(end);
  while (!commands.some((words) => words.includes(end))) await new Promise(setImmediate);
  stop();
  expect(commands).toEqual([
    ['client', 'set', 'a "b"', 'c\\d e'],
    ['client', 'eval', "return redis.call('GET', KEYS[1])", '1', 'x'],
    ['lua', 'GET', 'x'],
    ['client', 'echo', end],
  ]);
});

it('the monitor ignores the commands of other databases', async () => {
  const stopTraffic = new AbortController();
  const traffic = (async () => {
    while (!stopTraffic.signal.aborted)
      await Promise.all(Array.from({ length: 100 }, () => neighbour.ping()));
  })();
  const commands: (readonly string[])[] = [];
  for (let times = 0; times < 20; times += 1) {
    const stop = await monitorRedis(here.redisUrl, (command) => commands.push(command));
    const end = randomUUID();
    await redis.echo(end);
    while (!commands.some((words) => words.includes(end))) await new Promise(setImmediate);
    stop();
  }
  stopTraffic.abort();
  await traffic;
  expect(commands.map(([name]) => name)).toEqual(Array.from({ length: 20 }, () => 'echo'));
});

it('the monitor fails with a wrong password', async () => {
  const url = new URL(here.redisUrl);
  url.password = 'wrong';
  await expect(monitorRedis(url.href, () => undefined)).rejects.toThrow(/Redis answered: -/);
});
