import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { COUNTERS } from '#grants/counters.js';
import { defineScripts, type RedisClient, type RunScript, script } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/**
 * Maximum number of live assertions per client, enough for 800 requests per second if an assertion is valid for a
 * minute. Bounds the memory that a stolen key can use.
 */
const MAX_LIVE = 50_000;

/**
 * The Redis key contains the client's live assertions. Their number is limited.
 * @returns 0 for a new assertion, -1 for a used assertion, or the milliseconds until another is permitted
 */
const CONSUME = script(
  ['jti', 'max', 'ttl'],
  `${COUNTERS}
local remaining = wait(KEYS[1], max)
if redis.call('ZSCORE', KEYS[1], jti) then return -1 end
if remaining > 0 then return remaining end
count(KEYS[1], jti, ttl)
return 0
`,
);

const SCRIPTS = { assertionConsume: CONSUME };

export type Consumption =
  | { readonly outcome: 'consumed' | 'replayed' }
  /** `retryAfter` is in seconds. */
  | { readonly outcome: 'full'; readonly retryAfter: number };

/** Consumed assertions, shared by all replicas (RFC 7523 3, 7). */
@Injectable()
export class AssertionStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /**
   * Returns `consumed` for at most one of several calls with the same assertion.
   * @throws DependencyUnavailableError; the assertion may still have been consumed
   */
  async consume(clientId: string, jti: string, ttlMs: number): Promise<Consumption> {
    const [client, id] = [clientId, jti].map((text) => hash('sha256', text, 'base64url')) as [string, string];
    const values = { jti: id, max: MAX_LIVE, ttl: ttlMs };
    const wait = (await this.run('assertionConsume', [`assertions:${client}`], values)) as number;
    if (wait > 0) return { outcome: 'full', retryAfter: Math.ceil(wait / 1000) };
    return { outcome: wait === 0 ? 'consumed' : 'replayed' };
  }
}
