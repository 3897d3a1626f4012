import { Controller, Get, type HttpRedirectResponse, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { BrowserCookie, SessionCookie } from '#pages/cookies.js';
import { queryOf } from '#pages/form.js';
import { localPage } from '#pages/login-state.js';
import { LogoutGuard } from '#pages/logout.guard.js';
import { OpenIdLogin } from '#pages/openid-login.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RateLimits } from '#pages/rate-limit.js';
import { Public } from '#pages/route-rules.js';
import { SessionStore } from '#pages/session.store.js';
import { actorOf, type OperatorRequest, type OperatorSession } from '../operator.js';
import { loggedOutPage, loginPage, returnedPage } from './login.page.js';
import { OperatorLoginService } from './operator-login.service.js';

@Controller()
export class LoginController {
  constructor(
    private readonly logins: OpenIdLogin,
    private readonly operatorLogins: OperatorLoginService,
    private readonly sessions: SessionStore<OperatorSession>,
    private readonly cookies: SessionCookie,
    private readonly browsers: BrowserCookie,
    private readonly operators: ConsoleOperatorService,
    private readonly limits: RateLimits,
  ) {}

  /** Opens the login provider from a page, because a form may have led here. */
  @Get('login')
  @Public()
  async start(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    await this.limits.take('login', request, reply);
    const { url, headers } = request;
    const query = queryOf(url);
    const cookie = this.browsers.read(headers.cookie) ?? this.browsers.generate();
    const prompt = query.has('again') ? 'login' : query.has('account') ? 'select_account' : null;
    const location = await this.logins.start(cookie, localPage(query.get('page')), prompt);
    reply.header('Set-Cookie', this.browsers.set(cookie));
    return loginPage(location);
  }

  @Get('login/callback')
  @Public()
  async finish(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    await this.limits.take('login', request, reply);
    const { url, headers, raw } = request;
    const login = await this.logins.finish(this.browsers.read(headers.cookie), queryOf(url));
    const { page } = login;
    const { session, hasRole } = await this.operatorLogins.sessionOf(login);
    const before = this.cookies.read(headers.cookie);
    // Generates a new cookie, because an attacker may have planted the old one (session fixation).
    const cookie = this.cookies.generate();
    await this.sessions.create(cookie, session);
    if (before !== null) await this.sessions.end(before);
    reply.header('Set-Cookie', this.cookies.set(cookie));
    if (!hasRole) {
      // Every page is refused, but the user can log out there.
      this.operators.recordLoginWithoutRole(actorOf({ name: session.name }), session.subject);
      return seeOther(page);
    }
    addLogContext(raw, { operator: session.name, outcome: 'operator logged in' });
    this.operators.recordLogin(actorOf({ name: session.name }), session.subject, 'login.succeeded');
    return seeOther(page);
  }

  /** Ends the session here first, and then at the provider. Needs no session, which may already have ended. */
  @Post('logout')
  @Public()
  @UseGuards(LogoutGuard)
  async logout(
    @Req() { headers, account }: OperatorRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const cookie = this.cookies.read(headers.cookie);
    // Without the cookie, another site may have sent the request (SameSite), and must not clear the cookie.
    if (cookie === null) return loggedOutPage(null);
    reply.header('Set-Cookie', this.cookies.clear());
    // Of two concurrent requests, only one ends the session.
    const session = account ? await this.sessions.end(cookie) : null;
    if (!session) return loggedOutPage(null);
    this.operators.recordLogin(actorOf({ name: session.name }), session.subject, 'login.ended');
    return loggedOutPage(await this.logins.logoutUrl(session.idToken));
  }

  /** The provider returns here after the log-out. */
  @Get('logged-out')
  @Public()
  loggedOut(): Page {
    return returnedPage();
  }
}
