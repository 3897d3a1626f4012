import { Inject, Injectable } from '@nestjs/common';
import { defineScripts, type RedisClient, type RunScript, script } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/**
 * Counts to a limit within a time that begins with the first call. Returns 0, or the rest of the time if it is full.
 */
const COUNT = script(
  ['max', 'ttl'],
  `
if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(max) then return redis.call('PTTL', KEYS[1]) end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ttl) end
return 0
`,
);

const SCRIPTS = { requestCount: COUNT };

/** Requests of a client or network, counted for all replicas. */
@Injectable()
export class RequestCounterStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** @returns 0, or the milliseconds until the next request is permitted */
  async count(
    counter: 'dpop-from' | 'event-requests',
    of: string,
    max: number,
    ttlMs: number,
  ): Promise<number> {
    return (await this.run('requestCount', [`${counter}:${of}`], { max, ttl: ttlMs })) as number;
  }
}
