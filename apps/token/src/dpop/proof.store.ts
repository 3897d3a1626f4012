import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { ProofStoreUnavailableError } from './proof-store-unavailable.error.js';

/** Remembers which proofs were used, for all copies of all apps (RFC 9449 11.1). */
@Injectable()
export class ProofStore {
  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  /**
   * Uses a proof up. Of any number of calls with the same key and jti one is answered true.
   *
   * @param jkt thumbprint of the proof's key: its length is fixed, so that what is hashed has one reading
   * @param ttl for how long to remember it, in milliseconds
   * @throws ProofStoreUnavailableError: the proof may be used up, the request must be refused
   */
  async consume(jkt: string, jti: string, ttl: number): Promise<boolean> {
    const id = createHash('sha256')
      .update(jkt + jti)
      .digest('base64url');
    try {
      return (await this.redis.set(`dpop:${id}`, 1, 'PX', ttl, 'NX')) === 'OK';
    } catch (cause) {
      throw new ProofStoreUnavailableError(cause);
    }
  }
}
