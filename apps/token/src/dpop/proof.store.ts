import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  defineScripts,
  type RedisClient,
  type RunScript,
  script,
  withRedisErrors,
} from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** Counts to a limit within a time that begins with the first call. Returns 0, or the rest of the time if it is full. */
const COUNT = script(
  ['max', 'ttl'],
  `
if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(max) then return redis.call('PTTL', KEYS[1]) end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ttl) end
return 0
`,
);

const SCRIPTS = { proofCount: COUNT };

/** Consumed proofs, shared by all replicas of all apps (RFC 9449 11.1). */
@Injectable()
export class ProofStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** Counts a proof from a network. @returns 0, or the milliseconds until the network may send the next proof */
  async count(network: string, max: number, ttlMs: number): Promise<number> {
    return (await this.run('proofCount', [`dpop-from:${network}`], { max, ttl: ttlMs })) as number;
  }

  /**
   * Returns true for at most one of several calls with the same proof.
   * @throws DependencyUnavailableError; the proof may still have been consumed
   */
  async consume(jkt: string, jti: string, ttlMs: number): Promise<boolean> {
    // The thumbprint has a fixed length, so the hashed text is unambiguous.
    const id = hash('sha256', jkt + jti, 'base64url');
    return (await withRedisErrors(this.redis.set(`dpop:${id}`, 1, 'PX', ttlMs, 'NX'))) === 'OK';
  }
}
