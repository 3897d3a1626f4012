import { Controller, Get, type HttpRedirectResponse, Post, Redirect, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleOperatorService } from '#administration/console/console-operator.service.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { RateLimits } from '../request-limits/rate-limit.js';
import { loginUrl } from '../session/login-required.error.js';
import { Public } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { ConsoleCookie, ConsoleLoginCookie } from '../session/session.cookie.js';
import { SessionStore } from '../session/session.store.js';
import { queryOf } from '../form.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { continuePage, loggedOutPage } from './login.page.js';
import { OpenIdLoginService } from './openid-login.service.js';

@Controller()
export class LoginController {
  constructor(
    private readonly logins: OpenIdLoginService,
    private readonly sessions: SessionStore,
    private readonly cookies: ConsoleCookie,
    private readonly loginCookies: ConsoleLoginCookie,
    private readonly operators: ConsoleOperatorService,
    private readonly limits: RateLimits,
  ) {}

  @Get('login')
  @Public()
  @Redirect()
  async start(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    await this.limits.take('login', request, reply);
    const { url, headers } = request;
    const query = queryOf(url);
    const cookie = this.loginCookies.read(headers.cookie) ?? this.loginCookies.generate();
    const location = await this.logins.start(cookie, localPage(query.get('page')), query.has('again'));
    reply.header('Set-Cookie', this.loginCookies.set(cookie));
    return seeOther(location);
  }

  /**
   * Continues to the login after a form. Chromium applies the `form-action` of the form's page to redirects, but not to
   * a page that refreshes itself.
   */
  @Get('login/continue')
  @Public()
  continue(@Req() { url }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Page {
    const query = queryOf(url);
    const login = loginUrl('/login', localPage(query.get('page')), query.has('again'));
    reply.header('Refresh', `0; url=${login}`);
    return continuePage(login);
  }

  @Get('login/callback')
  @Public()
  @Redirect()
  async finish(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    await this.limits.take('login', request, reply);
    const { url, headers, raw } = request;
    const { session, page } = await this.logins.finish(this.loginCookies.read(headers.cookie), queryOf(url));
    const before = this.cookies.read(headers.cookie);
    // Generates a new cookie, because an attacker may have planted the old one (session fixation).
    const cookie = this.cookies.generate();
    await this.sessions.create(cookie, session);
    if (before !== null) await this.sessions.delete(before);
    addLogContext(raw, { operator: session.name, outcome: 'operator logged in' });
    this.operators.recordLogin(actorOf(session), session.subject, 'login.succeeded');
    reply.header('Set-Cookie', this.cookies.set(cookie));
    return seeOther(page);
  }

  @Post('logout')
  async logout(
    @CurrentOperator() operator: Operator,
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const cookie = this.cookies.read(headers.cookie);
    if (cookie !== null) await this.sessions.delete(cookie);
    reply.header('Set-Cookie', this.cookies.clear());
    this.operators.recordLogin(actorOf(operator), operator.identity.subject, 'login.ended');
    return loggedOutPage();
  }
}

/** Accepts only a path on this site: `//` or a backslash would lead to another site. */
function localPage(page: string | null): string {
  return page !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(page) ? page : '/';
}
