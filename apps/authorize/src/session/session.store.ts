import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.token.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { SessionStoreUnavailableError } from './session-store-unavailable.error.js';
import type { Session } from './session.js';

/** KEYS session · ARGV before after. Keeps the TTL. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`;

/**
 * Sessions in Redis, under the SHA-256 of the cookie's value: who reads Redis or a backup of it cannot take one over.
 * Each lives for SESSION_IDLE_LIFETIME seconds after its last use. Every method throws SessionStoreUnavailableError
 * when Redis does not answer.
 */
@Injectable()
export class SessionStore {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    redis.defineCommand('sessionReplace', { numberOfKeys: 1, lua: REPLACE });
  }

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

  /** Replaces a session that is still as it was read, in one atomic step. @returns false when it is not */
  async replace(cookie: string, before: Session, after: Session): Promise<boolean> {
    const redis = this.redis as RedisClient &
      Record<'sessionReplace', (...args: string[]) => Promise<number>>;
    const texts = [before, after].map((session) => JSON.stringify(session));
    return (await answered(redis.sessionReplace(keyOf(cookie), ...texts))) === 1;
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
