import { jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { defineScripts, redisClient, script } from '#platform/redis/redis-client.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PlatformModule } from '#platform/bootstrap/platform.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-cluster.js';
import { until } from '#test/support/until.js';

describe('commands to Redis in one turn of the event loop', () => {
  let services: Isolated;
  let other: Redis;
  let redis: Redis;

  beforeAll(async () => {
    services = await isolate();
    other = new Redis(services.redisUrl);
  });
  afterAll(async () => {
    other.disconnect();
    await services.close();
  });
  beforeEach(async () => {
    redis = redisClient(services.redisUrl, PATIENT_MS) as Redis;
    redis.on('error', () => undefined);
    await redis.ping();
  });
  afterEach(() => redis.disconnect());

  it('are sent in one write', async () => {
    const writes = [jest.spyOn(redis.stream, '_write'), jest.spyOn(redis.stream, '_writev' as '_write')];
    const words = Array.from({ length: 10 }, (_, n) => `word ${n}`);
    expect(await Promise.all(words.map((word) => redis.echo(word)))).toEqual(words);
    expect(writes.flatMap(({ mock }) => mock.calls)).toHaveLength(1);
  });

  it('are executed even if the client disconnects in that turn', async () => {
    const setting = redis.set('key', 'value');
    redis.disconnect();
    expect(await setting).toBe('OK');
    expect(await other.get('key')).toBe('value');
  });

  it('fail if the connection breaks in that turn, and the next connection works', async () => {
    const setting = redis.set('lost', 'value');
    redis.stream.destroy();
    await expect(setting).rejects.toThrow(/max retries/);
    await new Promise((resolve) => redis.once('ready', resolve));
    expect(await redis.get('lost')).toBeNull();
  });

  describe('as scripts', () => {
    const ECHO = script(
      ['first', 'second', 'third'],
      'return cjson.encode({first, second, third or false, ARGV[LIST] or false})',
    );

    it.each([
      [{ first: 1, second: 'b', third: 'c' }, [], ['1', 'b', 'c', false]],
      [{ third: 'c', second: null, first: 1 }, [], ['1', '', 'c', false]],
      [{ first: 1, second: 'b', third: null }, [], ['1', 'b', false, false]],
      [{ first: 1, second: 'b', third: null }, ['d'], ['1', 'b', '', 'd']],
    ])('get the values %j and the list %j as the arguments %j', async (values, list, expected) => {
      const run = defineScripts(redis, { echoArguments: ECHO });
      expect(JSON.parse((await run('echoArguments', [], values, list)) as string)).toEqual(expected);
    });
  });
});

describe('a command whose caller has given up', () => {
  const TIMEOUT_MS = 400;
  const SET = script(['value'], `redis.call('SET', KEYS[1], value)`);
  let server: PrivateRedis;
  let network: FaultProxy;
  let redis: Redis;
  let other: Redis;

  beforeAll(async () => {
    server = await startPrivateRedis();
    network = await FaultProxy.start(server.url);
    other = new Redis(server.url);
  });
  afterAll(async () => {
    other.disconnect();
    await network.close();
    await server.close();
  });
  beforeEach(async () => {
    redis = redisClient(network.url, TIMEOUT_MS) as Redis;
    redis.on('error', () => undefined);
    await until('Redis answers', 60_000, async () => (await redis.ping()) === 'PONG');
  });
  afterEach(() => redis.disconnect());

  const setter = () => {
    const run = defineScripts(redis, { setValue: SET });
    return (key: string) => run('setValue', [key], { value: 'value' });
  };

  it('is not executed by a server that was stopped, if the command is a script', async () => {
    const set = setter();
    await until('a script is executed', 60_000, () => set('first').then(() => true));
    server.node.signal('SIGSTOP');
    const late = [set('late'), set('late')];
    const settled = await Promise.allSettled(late);
    server.node.signal('SIGCONT');
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    // The server reads the connections in the order in which they became readable.
    await until('the server has read the scripts', 60_000, () => set('last').then(() => true));
    expect(await other.mget('first', 'late', 'last')).toEqual(['value', null, 'value']);
  });

  it('is refused by a server whose clock was set back, until the client has read the clock again', async () => {
    const set = setter();
    await until('a script is executed', 60_000, () => set('before').then(() => true));
    // The client sends a deadline that is an hour away, as if the server had set its clock back by an hour.
    const ahead = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    const refused = set('back');
    ahead.mockRestore();
    await expect(refused).rejects.toThrow(/LATE/);
    expect(await other.get('back')).toBeNull();
  });

  it('is executed in time by another server, to which a cluster redirects the command', async () => {
    const redirectedTo = redisClient(server.url, TIMEOUT_MS) as Redis;
    const onOther = defineScripts(redirectedTo, { setValue: SET });
    const set = setter();
    const run = (key: string) => Promise.all([set(key), onOther('setValue', [key], { value: 'value' })]);
    await until('a script is executed', 60_000, () => run('before').then(() => true));
    network.silence('existing');
    const send = jest.spyOn(redis, 'sendCommand');
    const redirected = set('redirected');
    const [command] = send.mock.calls[0] as Parameters<Redis['sendCommand']>;
    // The deadline in the clock of the first server, as if that clock was far behind.
    command.args[3] = '0';
    void redirectedTo.sendCommand(command);
    await redirected;
    network.reconnect();
    network.cut();
    redirectedTo.disconnect();
    expect(await other.get('redirected')).toBe('value');
  });

  it('is not sent later, if the command waited for the connection', async () => {
    network.disconnect();
    await until('the connection is closed', 60_000, () => redis.status !== 'ready');
    const [set, deleted] = [setter(), redis.set('waiting', 'value')];
    await Promise.allSettled([set('waiting'), deleted]);
    network.reconnect();
    await until('Redis answers', 60_000, async () => (await redis.ping()) === 'PONG');
    expect(await other.get('waiting')).toBeNull();
  });

  it('does not affect the scripts of the next connection', async () => {
    const set = setter();
    network.cut();
    await until('a script is executed', 60_000, () => set('again').then(() => true));
    expect(await other.get('again')).toBe('value');
  });
});

@Module({})
class Root {}

describe('the connection to Redis', () => {
  let services: Isolated;
  let network: FaultProxy;
  let app: INestApplicationContext;

  beforeAll(async () => {
    services = await isolate();
    network = await FaultProxy.start(services.redisUrl);
    const imports = [
      PlatformModule.forRoot(),
      RedisModule.forRoot({ process: 'token', redisUrl: network.url }),
    ];
    app = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
  });

  afterAll(async () => {
    await app.close();
    await network.close();
    await services.close();
  });

  // Without the socket timeout, the kernel would retransmit for a quarter of an hour.
  // @reliability redis-slow
  it('is replaced after it becomes silent without being closed', async () => {
    const redis = app.get<Redis>(REDIS);
    const answers = async () => (await redis.ping()) === 'PONG';
    await until('Redis answers', 60_000, answers);
    network.silence('existing');
    await until('a new connection answers', 60_000, answers);
  });
});
