import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import type { OperatorIdentity } from '../operator.js';

/** Seconds without a request, after which an operator must log in again. */
const IDLE_LIFETIME = 30 * 60;

export interface Session extends OperatorIdentity {
  readonly name: string;
  /** Time of the login at the provider, in milliseconds since the epoch; 0 if the provider does not send it. */
  readonly authTime: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** ID token of the login, which the log-out at the provider needs; null if it is too long for a URL. */
  readonly idToken: string | null;
}

/**
 * Stores sessions under the SHA-256 of the cookie, so that a reader of Redis cannot take over a session. Encrypts
 * sessions with a key that is not in Redis, so that another process with write access to Redis cannot forge a session.
 * Every method throws DependencyUnavailableError if Redis does not respond.
 */
@Injectable()
export class OperatorSessionStore {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly configuration: ConsoleConfiguration,
  ) {}

  /** Reads the session and extends its lifetime in one round trip. */
  async use(cookie: string): Promise<Session | null> {
    return this.opened(cookie, await withRedisErrors(this.redis.getex(keyOf(cookie), 'EX', IDLE_LIFETIME)));
  }

  async create(cookie: string, session: Session): Promise<void> {
    const text = encrypt(JSON.stringify(session), this.keyFor(cookie));
    await withRedisErrors(this.redis.set(keyOf(cookie), text, 'EX', IDLE_LIFETIME));
  }

  /** @returns null if the session had already ended */
  async end(cookie: string): Promise<Session | null> {
    return this.opened(cookie, await withRedisErrors(this.redis.getdel(keyOf(cookie))));
  }

  private opened(cookie: string, text: string | null): Session | null {
    const session = text === null ? null : decrypt(text, this.keyFor(cookie));
    return session === null ? null : (JSON.parse(session) as Session);
  }

  private keyFor(cookie: string): EncryptionKey {
    const { CONSOLE_CLIENT_SECRET: secret } = this.configuration;
    return { secret, purpose: 'session of the console', record: cookie };
  }
}

function keyOf(cookie: string): string {
  return `console:session:${createHash('sha256').update(cookie).digest('base64url')}`;
}
