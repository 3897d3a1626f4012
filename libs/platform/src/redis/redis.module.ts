import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { StatusReport } from '../status/status-report.js';
import { type RedisClient, redisClient } from './redis-client.js';
import { redisStatus } from './redis-status.js';
import { REDIS, RedisConnection } from './redis.connection.js';

/** Interval in which an error is logged once, because a Cluster repeats an error for every command. */
const REPEAT_LOG_MS = 5_000;

interface RedisModuleOptions {
  readonly redisUrl: string;
  readonly timeoutMs?: number;
}

@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    connection: RedisConnection,
    readiness: Readiness,
    status: StatusReport,
  ) {
    readiness.register('redis', () => connection.check());
    status.register('redis', () => redisStatus(redis));
  }

  static forRoot({ redisUrl, timeoutMs }: RedisModuleOptions): DynamicModule {
    const provider = { provide: REDIS, useFactory: () => withErrorLog(redisClient(redisUrl, timeoutMs)) };
    return { module: RedisModule, providers: [provider, RedisConnection], exports: [REDIS, RedisConnection] };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

function withErrorLog(redis: RedisClient): RedisClient {
  const logger = new Logger('Redis');
  const lastLogged = new Map<string, number>();
  const warn = (text: string) => {
    if (Date.now() - (lastLogged.get(text) ?? 0) < REPEAT_LOG_MS) return;
    if (lastLogged.size > 100) lastLogged.clear();
    lastLogged.set(text, Date.now());
    logger.warn(text);
  };
  redis.on('error', ({ message }: Error) => warn(`Redis: ${message}`));
  redis.on('node error', ({ message }: Error, server: string) => warn(`Redis ${server}: ${message}`));
  return redis;
}
