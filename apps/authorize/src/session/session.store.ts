import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { defineScripts, replyTo, type RunScript } from '#platform/redis/redis-commands.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

/** A login in one browser. */
export interface Session {
  readonly userId: number;
  /** `User.sessionGeneration` at the login. */
  readonly generation: number;
  /** When the user logged in here, milliseconds since the epoch. */
  readonly authTime: number;
  /** Digest of the query of the authorization request that the login was for, until that request is answered. */
  readonly loginFor: string | null;
  /** Only after a login by the product's own login. */
  readonly external?: ExternalSession;
}

/** What a session remembers of a login by the product's own login. */
export interface ExternalSession {
  /** When the user gave the password or another proof there, milliseconds since the epoch; absent if that is not known. */
  readonly authTime?: number;
  /** The session there (`sid`, OpenID Connect Back-Channel Logout 1.0 2.1). */
  readonly sid?: string;
  /** The ID token, for a log-out there. In Redis it is encrypted under the cookie (sealed.ts). */
  readonly idToken?: string;
}

/** KEYS session · ARGV before after. Keeps the TTL. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`;

/**
 * Sessions in Redis, under the SHA-256 of the cookie's value: nobody can take over a session with what Redis or its backup
 * holds. A session lives SESSION_IDLE_LIFETIME seconds after its last use. Every method throws DependencyUnavailableError
 * if Redis does not answer.
 */
@Injectable()
export class SessionStore {
  private readonly run: RunScript<'sessionReplace'>;

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    this.run = defineScripts(redis, { sessionReplace: REPLACE });
  }

  /** Reads a session and extends its lifetime, in one round trip. */
  async use(cookie: string): Promise<Session | null> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    const text = await replyTo(this.redis.getex(keyOf(cookie), 'EX', ttl));
    return text === null ? null : (JSON.parse(text) as Session);
  }

  async create(cookie: string, session: Session): Promise<void> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    await replyTo(this.redis.set(keyOf(cookie), JSON.stringify(session), 'EX', ttl));
  }

  /** Compares and replaces a session in one atomic step. @returns false if it has changed since it was read */
  async replace(cookie: string, before: Session, after: Session): Promise<boolean> {
    const texts = [before, after].map((session) => JSON.stringify(session));
    return (await this.run('sessionReplace', [keyOf(cookie)], ...texts)) === 1;
  }

  /** @param lifetime seconds */
  async endExternal(sid: string, lifetime: number): Promise<void> {
    await replyTo(this.redis.set(endedKeyOf(sid), '1', 'EX', lifetime));
  }

  /**
   * @param user of the product's own login
   * @param lifetime seconds
   */
  async addUnnamed(user: string, lifetime: number): Promise<void> {
    await replyTo(this.redis.set(unnamedKeyOf(user), '1', 'EX', lifetime));
  }

  async hasUnnamed(user: string): Promise<boolean> {
    return (await replyTo(this.redis.exists(unnamedKeyOf(user)))) === 1;
  }

  async isEnded(sid: string): Promise<boolean> {
    return (await replyTo(this.redis.exists(endedKeyOf(sid)))) === 1;
  }

  /** Deletes a session. @returns it, if it existed */
  async delete(cookie: string): Promise<Session | null> {
    const text = await replyTo(this.redis.getdel(keyOf(cookie)));
    return text === null ? null : (JSON.parse(text) as Session);
  }
}

const keyOf = (cookie: string): string => `session:${sha256(cookie)}`;
const endedKeyOf = (sid: string): string => `ended:${sha256(sid)}`;
const unnamedKeyOf = (user: string): string => `unnamed:${sha256(user)}`;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
