import { Inject, Injectable } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { REDIS } from './redis.token.js';

/** What others than stores may know of the Redis connection: when it begins. */
@Injectable()
export class RedisConnection {
  constructor(@Inject(REDIS) private readonly redis: Redis) {}

  /** Calls back whenever the connection is ready: at start, and after every fail-over or restart of Redis. */
  onReady(callback: () => void): void {
    if (this.redis.status === 'ready') callback();
    this.redis.on('ready', callback);
  }
}
