import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { type RedisClient, redisClient } from './redis-client.js';
import { RedisConnection } from './redis.connection.js';
import { REDIS } from './redis.token.js';

/** The same trouble of the same server is logged once in this time: a Cluster finds it anew with every command. */
const QUIET_MS = 5_000;

/** Offers the process's one connection to Redis: to a server, to a Cluster, or to the master that Sentinels name. */
@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    connection: RedisConnection,
    readiness: Readiness,
  ) {
    readiness.add('redis', () => connection.check());
  }

  /** @param timeoutMs in which time a command must be answered, in milliseconds; 2000 when absent */
  static forRoot(url: string, timeoutMs?: number): DynamicModule {
    const provider = { provide: REDIS, useFactory: () => logged(redisClient(url, timeoutMs)) };
    return { module: RedisModule, providers: [provider, RedisConnection], exports: [REDIS, RedisConnection] };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

function logged(redis: RedisClient): RedisClient {
  const logger = new Logger('Redis');
  const told = new Map<string, number>();
  const warn = (text: string) => {
    if (Date.now() - (told.get(text) ?? 0) < QUIET_MS) return;
    if (told.size > 100) told.clear();
    told.set(text, Date.now());
    logger.warn(text);
  };
  redis.on('error', ({ message }: Error) => warn(`Redis: ${message}`));
  redis.on('node error', ({ message }: Error, server: string) => warn(`Redis ${server}: ${message}`));
  return redis;
}
