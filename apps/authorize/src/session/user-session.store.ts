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
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import type { EncryptionKey } from '#platform/encryption.js';
import type { Identity } from '#users/user.js';

export interface UserSession {
  readonly userId: number;
  /** `User.sessionGeneration` at the login. */
  readonly generation: number;
  /** Time of the login at this service, in milliseconds since the epoch. */
  readonly authTime: number;
  /** Digest of the query of the login page; null after prompt=login has consumed the login. */
  readonly loginFor: string | null;
  /** Id of the `SentForm` that has consumed the login. */
  readonly answered?: string;
  /** Id in grants, if the session continues another session of the user. Otherwise, the id is a hash of the cookie. */
  readonly id?: string;
  readonly external?: ExternalSession;
}

export interface ExternalSession {
  /** Time of the authentication at the provider, in milliseconds since the epoch; absent if unknown. */
  readonly authTime?: number;
  /** `sid` (section 2.1 of OpenID Connect Back-Channel Logout 1.0). */
  readonly sid?: string;
  /** ID token for the log-out at the provider. In Redis, it is encrypted with the cookie. */
  readonly idToken?: string;
}

/** Redis contains only the SHA-256 of the cookie, so a reader of Redis cannot decrypt the ID token. */
export const idTokenKey = (cookie: string): EncryptionKey => ({
  secret: cookie,
  purpose: 'encryption with the cookie',
});

/** KEYS session. Replaces an unchanged session, and keeps its TTL. */
const REPLACE = script(
  ['before', 'after'],
  `
if redis.call('GET', KEYS[1]) ~= before then return 0 end
redis.call('SET', KEYS[1], after, 'KEEPTTL')
return 1
`,
);

/**
 * KEYS session, moved session. Moves a session to the second key, where concurrent logins and repeated log-outs find
 * the session.
 */
const TAKE = script(
  ['ttl'],
  `
local session = redis.call('GETDEL', KEYS[1])
if not session then return redis.call('GET', KEYS[2]) end
redis.call('SET', KEYS[2], session, 'EX', ttl)
return session
`,
);

/** Seconds for which a replaced or ended session can be read. */
const MOVED_LIFETIME = 60;

/** KEYS index. Adds a session to the sessions of the user, and removes sessions beyond the limits of age and number. */
const INDEX = script(
  ['session', 'start', 'oldest_start', 'max', 'ttl'],
  `
redis.call('ZADD', KEYS[1], start, session)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. oldest_start)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - max)
redis.call('EXPIRE', KEYS[1], ttl)
`,
);

const SCRIPTS = { sessionReplace: REPLACE, sessionIndex: INDEX, sessionTake: TAKE };

/** Maximum number of listed sessions per user. The newest sessions are listed. */
const MAX_LISTED = 100;

/** Keyed by a hash of the cookie, so that a reader of Redis or its backup cannot take over a session. */
@Injectable()
export class UserSessionStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** Reads a session and extends its lifetime in one round trip. */
  async use(cookie: string): Promise<UserSession | null> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    const text = await withRedisErrors(this.redis.getex(keyOf(cookie), 'EX', ttl));
    return text === null ? null : (JSON.parse(text) as UserSession);
  }

  async create(cookie: string, session: UserSession): Promise<void> {
    const { SESSION_IDLE_LIFETIME: ttl, SESSION_LIFETIME: lifetime } = this.configuration;
    const { userId, authTime } = session;
    const entry = {
      session: sha256(cookie),
      start: authTime,
      oldest_start: authTime - lifetime * 1000,
      max: MAX_LISTED,
      ttl: lifetime,
    };
    await Promise.all([
      withRedisErrors(this.redis.set(keyOf(cookie), JSON.stringify(session), 'EX', ttl)),
      this.run('sessionIndex', [userKeyOf(userId)], entry),
    ]);
  }

  /** Lists sessions of a user, newest first, including invalid sessions. `idleMs` is the time since the last use. */
  async list(userId: number): Promise<{ readonly session: UserSession; readonly idleMs: number }[]> {
    const { SESSION_IDLE_LIFETIME: ttl } = this.configuration;
    const digests = await withRedisErrors(this.redis.zrevrange(userKeyOf(userId), 0, -1));
    const listed = await Promise.all(
      digests.map(async (digest) => {
        const key = sessionKeyOf(digest);
        const [text, ttlMs] = await withRedisErrors(Promise.all([this.redis.get(key), this.redis.pttl(key)]));
        return text === null
          ? []
          : [{ session: JSON.parse(text) as UserSession, idleMs: ttl * 1000 - ttlMs }];
      }),
    );
    return listed.flat();
  }

  /** Replaces a session atomically. @returns false if the session is no longer `before` */
  async replace(cookie: string, before: UserSession, after: UserSession): Promise<boolean> {
    const texts = { before: JSON.stringify(before), after: JSON.stringify(after) };
    return (await this.run('sessionReplace', [keyOf(cookie)], texts)) === 1;
  }

  /**
   * Ends the sessions with this `sid`, and rejects the `sid` for the lifetime of a session, because a login may be in
   * progress.
   * @returns ids of the ended sessions, as recorded in grants
   */
  async endExternal(sid: string): Promise<string[]> {
    await this.mark(endedKeyOf(sid));
    return withRedisErrors(this.redis.smembers(sessionsKeyOf(sid)));
  }

  /** @param session id of the session, as recorded in grants */
  async addToExternal(sid: string, session: string): Promise<void> {
    const { SESSION_LIFETIME: lifetime } = this.configuration;
    await withRedisErrors(this.redis.sadd(sessionsKeyOf(sid), session));
    await withRedisErrors(this.redis.expire(sessionsKeyOf(sid), lifetime));
  }

  async removeFromExternal(sid: string, session: string): Promise<void> {
    await withRedisErrors(this.redis.srem(sessionsKeyOf(sid), session));
  }

  /** Records that the user has a session without a `sid`, which a logout token cannot identify. */
  async addWithoutSid(identity: Identity): Promise<void> {
    await this.mark(withoutSidKeyOf(identity));
  }

  async hasWithoutSid(identity: Identity): Promise<boolean> {
    return this.isMarked(withoutSidKeyOf(identity));
  }

  /** @param sid of a session; undefined for a session that no `sid` can end */
  async isEnded(sid: string | undefined): Promise<boolean> {
    return sid !== undefined && this.isMarked(endedKeyOf(sid));
  }

  private async mark(key: string): Promise<void> {
    await withRedisErrors(this.redis.set(key, '1', 'EX', this.configuration.SESSION_LIFETIME));
  }

  private async isMarked(key: string): Promise<boolean> {
    return (await withRedisErrors(this.redis.exists(key))) === 1;
  }

  /**
   * Returns and deletes a session that a login replaces. Concurrent logins get the same session, because the browser
   * keeps only one of the new cookies.
   */
  async take(cookie: string): Promise<UserSession | null> {
    return this.move(cookie, replacedKeyOf(cookie));
  }

  /** Ends a session. A repetition returns the same session for a minute, because the response may have been lost. */
  async delete(cookie: string): Promise<UserSession | null> {
    return this.move(cookie, endedSessionKeyOf(cookie));
  }

  /** Returns a session that ended in the last minute. */
  async findEnded(cookie: string): Promise<UserSession | null> {
    const text = await withRedisErrors(this.redis.get(endedSessionKeyOf(cookie)));
    return text === null ? null : (JSON.parse(text) as UserSession);
  }

  private async move(cookie: string, to: string): Promise<UserSession | null> {
    const text = (await this.run('sessionTake', [keyOf(cookie), to], { ttl: MOVED_LIFETIME })) as
      string | null;
    return text === null ? null : (JSON.parse(text) as UserSession);
  }
}

const sessionKeyOf = (digest: string): string => `session:${digest}`;
const keyOf = (cookie: string): string => sessionKeyOf(sha256(cookie));
/** These keys are in the Redis Cluster slot of the session. */
const endedSessionKeyOf = (cookie: string): string => `logged-out:{${keyOf(cookie)}}`;
const replacedKeyOf = (cookie: string): string => `replaced:{${keyOf(cookie)}}`;
const userKeyOf = (userId: number): string => `sessions-of-user:${userId}`;
const endedKeyOf = (sid: string): string => `ended:${sha256(sid)}`;
const sessionsKeyOf = (sid: string): string => `sessions-of-sid:${sha256(sid)}`;
/** An issuer contains no spaces, so the input is unambiguous. */
const withoutSidKeyOf = ({ issuer, externalId }: Identity): string =>
  `unnamed:${sha256(`${issuer} ${externalId}`)}`;

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
