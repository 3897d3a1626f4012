import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { REDIS } from '#service/redis/redis.token.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { SessionStoreUnavailableError } from './session-store-unavailable.error.js';
import type { Session } from './session.js';

/**
 * Sessions in Redis, under the SHA-256 of the cookie's value: who reads Redis or a backup of it cannot take one over.
 * Each lives for SESSION_IDLE_LIFETIME seconds after its last use. Every method throws SessionStoreUnavailableError
 * when Redis does not answer.
 */
@Injectable()
export class SessionStore {
  constructor(
    @Inject(REDIS) private readonly redis: Redis,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** Reads a session and lets it live on, in one round trip. */
  async use(cookie: string): Promise<Session | null> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    const text = await answered(this.redis.getex(keyOf(cookie), 'EX', ttl));
    return text === null ? null : (JSON.parse(text) as Session);
  }

  async create(cookie: string, session: Session): Promise<void> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    await answered(this.redis.set(keyOf(cookie), JSON.stringify(session), 'EX', ttl));
  }

  /** Ends a session; one that does not exist is no error. */
  async delete(cookie: string): Promise<void> {
    await answered(this.redis.del(keyOf(cookie)));
  }
}

function keyOf(cookie: string): string {
  return `session:${createHash('sha256').update(cookie).digest('base64url')}`;
}

async function answered<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new SessionStoreUnavailableError(cause);
  }
}
