import { Controller, Get, Injectable, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addAuditEvent } from '#audit/request-events.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { afterLogin, rawQuery } from '../urls.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { requiredInteraction } from '../consent/interaction.js';
import { LoginCookie, SessionService, UserSessionCookie } from '../session/session.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { ExternalLoginService, type FinishedLogin } from './external-login.service.js';
import { LOGIN_OPERATION } from '../login/login.controller.js';
import { LanguageService } from '../ui/i18n/language.service.js';

@Controller(ENDPOINTS.login)
export class ExternalLoginController {
  constructor(
    private readonly logins: ExternalLoginService,
    private readonly loginCookie: LoginCookie,
    private readonly requests: AuthorizationRequestService,
    private readonly sessions: SessionService,
    private readonly pages: UserPageResponder,
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

@Injectable()
export class LoginResponder {
  constructor(
    private readonly sessionCookie: UserSessionCookie,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
  ) {}

  finish({ raw, headers }: FastifyRequest, reply: FastifyReply, { location, login }: FinishedLogin): void {
    if (login) {
      const { user, cookie } = login;
      addLogContext(raw, { user_id: user.id, outcome: 'logged in' });
      addAuditEvent(raw, 'login.succeeded');
      const language = this.language.remember(headers.cookie, user.locale);
      reply.header('Set-Cookie', [this.sessionCookie.set(cookie), ...language]);
    } else {
      addLogContext(raw, { outcome: 'returned again' });
    }
    this.pages.seeOther(reply, location);
  }
}
