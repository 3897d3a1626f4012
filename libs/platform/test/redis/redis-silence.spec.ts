import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { PlatformModule } from '#platform/bootstrap/platform.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';

@Module({})
class Root {}

describe('the connection to Redis', () => {
  let services: Isolated;
  let network: FaultProxy;
  let app: INestApplicationContext;

  beforeAll(async () => {
    services = await isolate();
    network = await FaultProxy.start(services.redisUrl);
    const imports = [PlatformModule.forRoot(), RedisModule.forRoot(network.url)];
    app = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
  });

  afterAll(async () => {
    await app.close();
    await network.close();
    await services.close();
  });

  // Without the socket timeout the kernel would retransmit for a quarter of an hour.
  it('is replaced within seconds when it becomes silent without being closed', async () => {
    const redis = app.get<Redis>(REDIS);
    const answers = async () => (await redis.ping()) === 'PONG';
    await until('Redis answers', 60_000, answers);
    network.silence('existing');
    await until('a new connection answers', 60_000, answers);
  });
});
