import { randomUUID } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { isolate, type Isolated } from '../isolate.js';
import { withDatabase } from '../test-database.js';
import { monitorRedis } from '../redis-monitor.js';

describe('isolate', () => {
  let first: Isolated;
  let second: Isolated;

  beforeAll(async () => {
    [first, second] = await Promise.all([isolate(), isolate()]);
  });

  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
  });

  it('gives each caller a private database', async () => {
    await query(first.databaseUrl, 'CREATE TABLE only_here (n int)');
    await expect(query(second.databaseUrl, 'SELECT * FROM only_here')).rejects.toThrow('does not exist');
  });

  it('gives each caller a private, empty Redis database', async () => {
    const [a, b] = [new Redis(first.redisUrl), new Redis(second.redisUrl)];
    expect(await a.dbsize()).toBe(0);
    await a.set('key', 'value');
    expect(await b.get('key')).toBeNull();
    a.disconnect();
    b.disconnect();
  });

  it('gives each caller private NATS subjects', async () => {
    const [a, b] = await Promise.all([natsConnection(first.natsUrl), natsConnection(second.natsUrl)]);
    const seen: string[] = [];
    b.subscribe('news', { callback: (_, message) => void seen.push(message.string()) });
    await b.flush();
    a.publish('news', 'from the first');
    await a.flush();
    b.publish('news', 'from the second');
    await b.flush();
    expect(seen).toEqual(['from the second']);
    await Promise.all([a.close(), b.close()]);
  });

  it('deletes the data of a caller who closes the services', async () => {
    const closed = await isolate();
    const client = new Redis(closed.redisUrl);
    await client.set('key', 'value');
    await closed.close();
    expect(await client.dbsize()).toBe(0);
    client.disconnect();
    await expect(query(closed.databaseUrl, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});

async function query(url: string, statement: string): Promise<void> {
  await withDatabase(url, (client) => client.query(statement));
}

function natsConnection(url: string): ReturnType<typeof connect> {
  const { host, protocol, username, password } = new URL(url);
  return connect({ servers: `${protocol}//${host}`, user: username, pass: password });
}

describe('redis monitor', () => {
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
});
