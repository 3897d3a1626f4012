import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { replyTo } from '#platform/redis/redis-commands.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** Remembers consumed proofs, for all replicas of all apps (RFC 9449 11.1). */
@Injectable()
export class ProofStore {
  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  /**
   * Consumes a proof. Of any number of calls with the same key and jti, exactly one returns true.
   *
   * @param jkt thumbprint of the proof's key; its fixed length keeps the hashed text unambiguous
   * @param ttl how long to remember the proof, in milliseconds
   * @throws DependencyUnavailableError: the proof may be consumed, and the request must be refused
   */
  async consume(jkt: string, jti: string, ttl: number): Promise<boolean> {
    const id = hash('sha256', jkt + jti, 'base64url');
    return (await replyTo(this.redis.set(`dpop:${id}`, 1, 'PX', ttl, 'NX'))) === 'OK';
  }
}
