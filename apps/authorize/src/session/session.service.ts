import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../clock.js';
import { BrowserCookie } from './browser-cookie.js';
import type { Visitor } from './session.js';
import { SessionStore } from './session.store.js';

/** Who is at the other end: begins, recognises and ends sessions. */
@Injectable()
export class SessionService {
  constructor(
    private readonly cookies: BrowserCookie,
    private readonly sessions: SessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Recognises a visitor by the Cookie header; costs at most one round trip to Redis. */
  async recognise(cookieHeader: string | undefined): Promise<Visitor> {
    const cookie = this.cookies.read(cookieHeader);
    return { cookie, session: cookie === null ? null : await this.sessions.use(cookie) };
  }

  /**
   * Begins a session under a new cookie, whatever the browser held before: a value that somebody else planted never
   * becomes a login (session fixation).
   *
   * @returns the new cookie's value
   */
  async begin(before: string, userId: number): Promise<string> {
    const cookie = this.cookies.make();
    await Promise.all([
      this.sessions.create(cookie, { userId, authTime: this.clock() }),
      this.sessions.delete(before),
    ]);
    return cookie;
  }

  async end(cookie: string): Promise<void> {
    await this.sessions.delete(cookie);
  }
}
