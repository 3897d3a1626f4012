import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { CSRF_FIELD } from '#ui/browser-cookie.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { LoginCookie, UserSessionCookie } from '../session/session.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { postedQuery, rawQuery, withQuery } from '../urls.js';
import { type LoggedOut, LogoutContinuation, LogoutService } from './logout.service.js';
import { LogoutEverywhereOperation, LogoutOperation } from './logout.openapi.js';

@Controller()
export class LogoutController {
  constructor(
    private readonly logouts: LogoutService,
    private readonly continuation: LogoutContinuation,
    private readonly cookies: UserSessionCookie,
    private readonly loginCookie: LoginCookie,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** Receives the log-out form, or an end-session request, which has no CSRF token and is redirected to GET. */
  @Post(ENDPOINTS.logout)
  @LogoutOperation
  @ProtectForm('logout', isPostedRequest)
  async logout(
    @Req() { url, headers, raw, ip }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    if (isPostedRequest(fields, this.configuration))
      return this.pages.seeOther(reply, withQuery(ENDPOINTS.logout, postedQuery(fields)));
    const query = rawQuery(url);
    if (query === '') return this.leave(reply, await this.logouts.logOut(raw));
    // A new login continues the authorization request. The log-out comes first, because starting the login can fail.
    addLogContext(raw, { outcome: 'logged out' });
    await this.logouts.end(raw);
    reply.header('Set-Cookie', this.cookies.clear());
    const browser = { cookies: headers.cookie, address: ip };
    const { location, loginCookie } = await this.continuation.logInAgain(browser, query);
    if (loginCookie !== null) reply.header('Set-Cookie', this.loginCookie.set(loginCookie));
    this.pages.seeOther(reply, location);
  }

  @Post(ENDPOINTS.logoutEverywhere)
  @LogoutEverywhereOperation
  @ProtectForm('logout_everywhere')
  async logoutEverywhere(@Req() { raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const loggedOut = await this.logouts.logOutEverywhere(raw);
    if (!loggedOut) return this.pages.seeOther(reply, ENDPOINTS.login);
    this.leave(reply, loggedOut);
  }

  private leave(reply: FastifyReply, { location, cookie }: LoggedOut): void {
    reply.header('Set-Cookie', this.cookies.set(cookie));
    this.pages.seeOther(reply, location);
  }
}

/** Returns true for an end-session request of an application. The form of this service always has a CSRF token. */
function isPostedRequest(fields: FormFields, { ID_TOKEN_KEYS }: AuthorizeConfiguration): boolean {
  return ID_TOKEN_KEYS !== '' && fields[CSRF_FIELD] === undefined;
}
