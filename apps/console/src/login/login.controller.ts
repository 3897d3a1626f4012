import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type HttpRedirectResponse,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { actorOf, type OperatorRequest } from '../operator.js';
import { RateLimits } from '../request-limits/rate-limit.js';
import { FormCheck } from '../session/form-check.js';
import { OperatorSessionsService } from '../session/operator-sessions.service.js';
import { Public } from '../session/operator.guard.js';
import { BrowserCookie, ConsoleCookie } from '../session/session.store.js';
import { OperatorSessionStore } from '../session/operator-session.store.js';
import { queryOf } from '../form.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { loggedOutPage, loginPage, returnedPage } from './login.page.js';
import { OpenIdLoginService } from './openid-login.service.js';

/** Admits a log-out from a page of the console, also of a user without a role, or without a session. */
@Injectable()
class LogoutGuard implements CanActivate {
  constructor(
    private readonly sessions: OperatorSessionsService,
    private readonly forms: FormCheck,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<OperatorRequest>();
    this.forms.checkOrigin(request.headers);
    const session = await this.sessions.use(request);
    if (session === null) return true;
    await this.limits.take(
      'pages',
      request,
      context.switchToHttp().getResponse<FastifyReply>(),
      session.cookie,
    );
    this.forms.check(request, session);
    request.account = session;
    return true;
  }
}

@Controller()
export class LoginController {
  constructor(
    private readonly logins: OpenIdLoginService,
    private readonly sessions: OperatorSessionStore,
    private readonly cookies: ConsoleCookie,
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
    const { session, hasRole, page } = await this.logins.finish(
      this.browsers.read(headers.cookie),
      queryOf(url),
    );
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

/** Accepts only a path on this site: `//` or a backslash would lead to another site. */
function localPage(page: string | null): string {
  return page !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(page) ? page : '/';
}
