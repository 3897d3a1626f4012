import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Readiness } from '../health/readiness.js';
import { RedisConnection } from './redis.connection.js';
import { REDIS } from './redis.token.js';

/** One connection, made for transitions that must not be carried out twice behind our back. */
@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(@Inject(REDIS) private readonly redis: Redis) {}

  static forRoot(url: string): DynamicModule {
    const provider = {
      provide: REDIS,
      inject: [Readiness],
      useFactory: (readiness: Readiness) => connect(url, readiness),
    };
    return { module: RedisModule, providers: [provider, RedisConnection], exports: [REDIS, RedisConnection] };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

function connect(url: string, readiness: Readiness): Redis {
  const redis = new Redis(url, {
    // A transition whose answer was lost may have happened: the client repeats it, the driver must not.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
    // A machine that died closes nothing: without this the kernel would keep on sending to it for a quarter of an hour.
    socketTimeout: 3_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1_000),
    // A replica that has just been promoted, or is about to be: connect anew to reach the master.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
  const logger = new Logger('Redis');
  redis.on('error', ({ message }) => logger.warn(`Redis: ${message}`));
  readiness.add('redis', () => redis.ping());
  return redis;
}
