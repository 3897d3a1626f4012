import { Controller, Get, type HttpRedirectResponse, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { BrowserCookie, SessionCookie } from '#pages/cookies.js';
import { queryOf } from '#pages/form.js';
import { localPage } from '#pages/login-state.js';
import { LogoutGuard } from '#pages/logout.guard.js';
import { OpenIdLogin } from '#pages/openid-login.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RateLimits } from '#pages/rate-limit.js';
import { Public } from '#pages/route-rules.js';
import { SessionStore } from '#pages/session.store.js';
import { addLogContext } from '#platform/logging/request-log.js';
import type { DeveloperRequest, DeveloperSession } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';
import { loggedOutPage, loginPage } from './login.page.js';

@Controller()
export class LoginController {
  constructor(
    private readonly logins: OpenIdLogin,
    private readonly sessions: SessionStore<DeveloperSession>,
    private readonly cookies: SessionCookie,
    private readonly browsers: BrowserCookie,
    private readonly limits: RateLimits,
    private readonly languages: Languages,
  ) {}

  /** Opens the login from a page, because a form may have led here. */
  @Get('login')
  @Public()
  async start(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    await this.limits.take('login', request, reply);
    const query = queryOf(request.url);
    const cookie = this.browsers.read(request.headers.cookie) ?? this.browsers.generate();
    const prompt = query.has('again') ? 'login' : query.has('account') ? 'select_account' : null;
    const location = await this.logins.start(cookie, localPage(query.get('page')), prompt);
    reply.header('Set-Cookie', this.browsers.set(cookie));
    return loginPage(this.languages.translatorFor(request), location);
  }

  @Get('login/callback')
  @Public()
  async finish(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    await this.limits.take('login', request, reply);
    const { url, headers, raw } = request;
    const login = await this.logins.finish(this.browsers.read(headers.cookie), queryOf(url));
    const { locale = null } = login.claims as { readonly locale?: string };
    const before = this.cookies.read(headers.cookie);
    // Generates a new cookie, because an attacker may have planted the old one (session fixation).
    const cookie = this.cookies.generate();
    await this.sessions.create(cookie, { ...login.session, token: login.accessToken, locale });
    if (before !== null) await this.end(before);
    reply.header('Set-Cookie', this.cookies.set(cookie));
    addLogContext(raw, { outcome: 'developer logged in' });
    return seeOther(login.page);
  }

  /** Ends the session and its grant here first, and then the session at the provider. */
  @Post('logout')
  @Public()
  @UseGuards(LogoutGuard)
  async logout(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const translator = this.languages.translatorFor(request);
    const cookie = this.cookies.read(request.headers.cookie);
    // Without the cookie, another site may have sent the request (SameSite), and must not clear the cookie.
    if (cookie === null) return loggedOutPage(translator, null);
    reply.header('Set-Cookie', this.cookies.clear());
    const session = request.account ? await this.end(cookie) : null;
    return loggedOutPage(translator, session && (await this.logins.logoutUrl(session.idToken)));
  }

  /** The provider returns here after the log-out. */
  @Get('logged-out')
  @Public()
  loggedOut(@Req() request: DeveloperRequest): Page {
    return loggedOutPage(this.languages.translatorFor(request), null);
  }

  /** The grant identifies the user to the database, so it ends with the session. */
  private async end(cookie: string): Promise<DeveloperSession | null> {
    const session = await this.sessions.end(cookie);
    if (session) await this.logins.revoke(session.token);
    return session;
  }
}
