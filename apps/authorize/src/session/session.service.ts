import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { User } from '#database/user/user.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { CLOCK, type Clock } from '../clock.js';
import { BrowserCookie } from './browser-cookie.js';
import type { Session, Visitor } from './session.js';
import { SessionStore } from './session.store.js';

/** Milliseconds in which a login counts as made for the request that asked for it; enough to read a consent page. */
const FRESH_MS = 10 * 60_000;

/** Who is at the other end: begins, recognises and ends sessions. */
@Injectable()
export class SessionService {
  constructor(
    private readonly cookies: BrowserCookie,
    private readonly sessions: SessionStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Recognises a visitor by the Cookie header; costs at most one round trip to Redis. */
  async recognise(cookieHeader: string | undefined): Promise<Visitor> {
    const cookie = this.cookies.read(cookieHeader);
    const session = cookie === null ? null : await this.sessions.use(cookie);
    const { SESSION_LIFETIME } = this.configuration;
    const over = session !== null && this.clock() - session.authTime > SESSION_LIFETIME * 1000;
    return { cookie, session: over ? null : session };
  }

  /**
   * Begins a session under a new cookie, whatever the browser held before: a value that somebody else planted never
   * becomes a login (session fixation).
   *
   * @param query that the login goes on with
   * @returns the new cookie's value
   */
  async begin(before: string, user: Pick<User, 'id' | 'sessionGeneration'>, query: string): Promise<string> {
    const cookie = this.cookies.make();
    const session = {
      userId: user.id,
      generation: user.sessionGeneration,
      authTime: this.clock(),
      loginFor: digestOf(query),
    };
    await Promise.all([this.sessions.create(cookie, session), this.sessions.delete(before)]);
    return cookie;
  }

  /** Whether the user logged in for this very request just now (prompt=login, OpenID Connect Core 3.1.2.1). */
  isLoginFor(session: Session | null, query: string): boolean {
    return (
      session !== null && session.loginFor === digestOf(query) && this.clock() - session.authTime < FRESH_MS
    );
  }

  /** Uses up the login that was made for this request: of any number of answers at once one is told true. */
  async spendLogin(cookie: string, session: Session, query: string): Promise<boolean> {
    if (!this.isLoginFor(session, query)) return false;
    return this.sessions.replace(cookie, session, { ...session, loginFor: null });
  }

  async end(cookie: string): Promise<void> {
    await this.sessions.delete(cookie);
  }
}

function digestOf(query: string): string {
  return createHash('sha256').update(query).digest('base64url');
}
