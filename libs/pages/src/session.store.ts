import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import type { Account, PageRequest } from './account.js';
import { BrowserCookie, SessionCookie } from './cookies.js';
import { PagesOptions } from './pages.options.js';

/** Seconds without a request, after which a user must log in again. */
const IDLE_LIFETIME = 30 * 60;

const MAX_SESSION_MS = 12 * 60 * 60_000;

export interface Session {
  /** `sub` of the ID token. */
  readonly subject: string;
  readonly name: string;
  /** Time of the login at the provider, in milliseconds since the epoch; 0 if the provider does not send it. */
  readonly authTime: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** ID token of the login, which the log-out at the provider needs; null if it is too long for a URL. */
  readonly idToken: string | null;
}

export type OpenSession<Stored extends Session> = Stored & Account & { readonly cookie: string };

/**
 * Stores sessions under the SHA-256 of the cookie, so that a reader of Redis cannot take over a session. The key of a
 * session needs the client secret, so that another process with write access to Redis cannot forge a session, and the
 * cookie, so that stolen credentials of this process reveal no token of a user.
 * Every method throws DependencyUnavailableError if Redis does not respond.
 */
@Injectable()
export class SessionStore<Stored extends Session> {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly cookies: SessionCookie,
    private readonly browsers: BrowserCookie,
    private readonly options: PagesOptions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Reads the session of a request and extends its lifetime in one round trip.
   * @returns null without a session, or twelve hours after its start
   */
  async use({ headers }: PageRequest): Promise<OpenSession<Stored> | null> {
    const [cookie, browser] = [this.cookies.read(headers.cookie), this.browsers.read(headers.cookie)];
    if (cookie === null || browser === null) return null;
    const text = await withRedisErrors(this.redis.getex(this.keyOf(cookie), 'EX', IDLE_LIFETIME));
    const session = this.opened(cookie, text);
    if (session === null || this.clock() - session.startedAt > MAX_SESSION_MS) return null;
    const formKey = this.browsers.formKey(browser, session.subject);
    return { ...session, cookie, browser, formKey, formIdKey: this.browsers.formIdKey(browser) };
  }

  async create(cookie: string, session: Stored): Promise<void> {
    const text = encrypt(JSON.stringify(session), this.encryptionKey(cookie));
    await withRedisErrors(this.redis.set(this.keyOf(cookie), text, 'EX', IDLE_LIFETIME));
  }

  /** @returns null if the session had already ended */
  async end(cookie: string): Promise<Stored | null> {
    return this.opened(cookie, await withRedisErrors(this.redis.getdel(this.keyOf(cookie))));
  }

  private opened(cookie: string, text: string | null): Stored | null {
    const session = text === null ? null : decrypt(text, this.encryptionKey(cookie));
    return session === null ? null : (JSON.parse(session) as Stored);
  }

  private encryptionKey(cookie: string): EncryptionKey {
    const { app, login } = this.options;
    return { secret: `${login.clientSecret} ${cookie}`, purpose: `session of the ${app}` };
  }

  private keyOf(cookie: string): string {
    return `${this.options.app}:session:${createHash('sha256').update(cookie).digest('base64url')}`;
  }
}
