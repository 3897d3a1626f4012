import { Controller, Get, type HttpRedirectResponse, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { BrowserLoginService } from '#pages/browser-login.service.js';
import { LogoutGuard } from '#pages/logout.guard.js';
import { OpenIdLogin } from '#pages/openid-login.js';
import { forwardPage, type Page, seeOther } from '#pages/page.responder.js';
import { Public } from '#pages/route-rules.js';
import { actorOf, type OperatorRequest, type OperatorSession } from '../operator.js';
import { loggedOutPage, returnedPage } from './login.page.js';
import { OperatorLoginService } from './operator-login.service.js';

@Controller()
export class LoginController {
  constructor(
    private readonly browsers: BrowserLoginService<OperatorSession>,
    private readonly logins: OpenIdLogin,
    private readonly operatorLogins: OperatorLoginService,
    private readonly operators: ConsoleOperatorService,
  ) {}

  /** Opens the login provider from a page, because a form may have led here. */
  @Get('login')
  @Public()
  async start(
    @Req() request: OperatorRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const provider = await this.browsers.start(request, reply);
    return forwardPage('Log in to continue', provider, 'Continue to the login');
  }

  @Get('login/callback')
  @Public()
  async finish(
    @Req() request: OperatorRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    const login = await this.browsers.finish(request, reply);
    const { session, hasRole } = await this.operatorLogins.sessionOf(login);
    await this.browsers.open(request, reply, session);
    const actor = actorOf({ name: session.name });
    if (hasRole) {
      addLogContext(request.raw, { operator: session.name, outcome: 'operator logged in' });
      this.operators.recordLogin(actor, session.subject, 'login.succeeded');
    } else {
      // Every page is refused, but the user can log out there.
      this.operators.recordLoginWithoutRole(actor, session.subject);
    }
    return seeOther(login.page);
  }

  /** Ends the session here first, and then at the provider. Needs no session, which may already have ended. */
  @Post('logout')
  @Public()
  @UseGuards(LogoutGuard)
  async logout(
    @Req() request: OperatorRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const session = await this.browsers.end(request, reply);
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
