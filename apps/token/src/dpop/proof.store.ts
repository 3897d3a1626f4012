import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** Consumed proofs, shared by all replicas of all apps (RFC 9449 11.1). */
@Injectable()
export class ProofStore {
  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

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
