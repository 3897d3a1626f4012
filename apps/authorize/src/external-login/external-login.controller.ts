import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { afterLogin, rawQuery } from '../urls.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { requiredInteraction } from '../consent/interaction.js';
import { LoginCookie } from '../session/login-cookie.js';
import { SessionService } from '../session/session.service.js';
import { PageResponder } from '../ui/page.responder.js';
import { ExternalLoginService } from './external-login.service.js';
import { LOGIN_OPERATION } from '../login/login.openapi.js';

@Controller(ENDPOINTS.login)
export class ExternalLoginController {
  constructor(
    private readonly logins: ExternalLoginService,
    private readonly loginCookie: LoginCookie,
    private readonly requests: AuthorizationRequestService,
    private readonly sessions: SessionService,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  @ApiOperation(LOGIN_OPERATION)
  async start(@Req() { url, headers, ip }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const { session } = await this.sessions.findVisitor(headers.cookie);
    const request = await this.requests.validateOrNull(query, session);
    const needed = request && requiredInteraction(request, this.sessions.isLoginFor(session, query)).page;
    // Skips the login if there is a session, unless the request needs a new login. The next page validates the session.
    if (session && needed !== 'login') return this.pages.seeOther(reply, afterLogin(query));
    const visitor = { cookies: headers.cookie, address: ip };
    const { location, loginCookie } = await this.logins.start(visitor, query, request);
    if (loginCookie !== null) reply.header('Set-Cookie', this.loginCookie.set(loginCookie));
    this.pages.seeOther(reply, location);
  }
}
