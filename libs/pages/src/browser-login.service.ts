import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PageRequest } from './account.js';
import { BrowserCookie, SessionCookie } from './cookies.js';
import { queryOf } from './form.js';
import { localPage } from './login-state.js';
import { type FinishedLogin, OpenIdLogin } from './openid-login.js';
import { RateLimits } from './rate-limit.js';
import { type Session, SessionStore } from './session.store.js';

/** Starts and ends the sessions of browsers. */
@Injectable()
export class BrowserLoginService<Stored extends Session> {
  constructor(
    private readonly logins: OpenIdLogin,
    private readonly sessions: SessionStore<Stored>,
    private readonly cookies: SessionCookie,
    private readonly browsers: BrowserCookie,
    private readonly limits: RateLimits,
  ) {}

  /** @returns URL of the login at the provider */
  async start(request: PageRequest, reply: FastifyReply): Promise<string> {
    await this.limits.take('login', request, reply);
    const query = queryOf(request.url);
    const cookie = this.browsers.read(request.headers.cookie) ?? this.browsers.generate();
    const prompt = query.has('again') ? 'login' : query.has('account') ? 'select_account' : null;
    const location = await this.logins.start(cookie, localPage(query.get('page')), prompt);
    reply.header('Set-Cookie', this.browsers.set(cookie));
    return location;
  }

  async finish(request: PageRequest, reply: FastifyReply): Promise<FinishedLogin> {
    await this.limits.take('login', request, reply);
    return this.logins.finish(this.browsers.read(request.headers.cookie), queryOf(request.url));
  }

  /** @returns the earlier session of the browser, which this session replaces; null if there was none */
  async open({ headers }: PageRequest, reply: FastifyReply, session: Stored): Promise<Stored | null> {
    const before = this.cookies.read(headers.cookie);
    // Generates a new cookie, because an attacker may have planted the old one (session fixation).
    const cookie = this.cookies.generate();
    await this.sessions.create(cookie, session);
    const replaced = before === null ? null : await this.sessions.end(before);
    reply.header('Set-Cookie', this.cookies.set(cookie));
    return replaced;
  }

  /** @returns the ended session; null without a session. Of two concurrent requests, only one ends the session. */
  async end({ headers, account }: PageRequest, reply: FastifyReply): Promise<Stored | null> {
    const cookie = this.cookies.read(headers.cookie);
    // Without the cookie, another site may have sent the request (SameSite), and must not clear the cookie.
    if (cookie === null) return null;
    reply.header('Set-Cookie', this.cookies.clear());
    return account ? this.sessions.end(cookie) : null;
  }
}
