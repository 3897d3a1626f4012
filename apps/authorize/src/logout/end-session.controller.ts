import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ApiOperation } from '#openapi/operation.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { descriptionOf } from '#error-guide/error-description.js';
import { addErrorToLog, addLogContext } from '#platform/logging/request-log.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { ProtectForm } from '../session/csrf.guard.js';
import { SessionService, UserSessionCookie } from '../session/session.service.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { rawQuery } from '../urls.js';
import {
  confirmationQuery,
  type EndSessionRequest,
  EndSessionRequestService,
  locationOf,
} from './end-session-request.service.js';
import { LogoutService } from './logout.service.js';
import { ConfirmLogoutOperation, END_SESSION_OPERATION } from './logout.openapi.js';
import { confirmLogoutPage, loggedOutPage } from './logout.page.js';

/** Log-out requested by an application (section 2 of RP-Initiated Logout 1.0). */
@Controller()
export class EndSessionController {
  constructor(
    private readonly requests: EndSessionRequestService,
    private readonly logouts: LogoutService,
    private readonly sessions: SessionService,
    private readonly cookies: UserSessionCookie,
    private readonly keys: SigningKeys,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** Serves end-session requests and the page after a log-out. */
  @Get(ENDPOINTS.logout)
  @ApiOperation(END_SESSION_OPERATION)
  async endSession(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (this.keys.isEmpty) return this.showLoggedOut(headers, reply);
    const query = rawQuery(url);
    const request = await this.requests.read(query);
    if (request.client) addLogContext(raw, { client_id: request.client.clientId });
    const account = await this.sessions.findAccount(headers.cookie);
    const { client, uiLocales, refused } = request;
    if (!account) {
      if (refused) throw refused;
      if (await this.sessions.hasEnded(headers.cookie)) return this.logOut(raw, reply, request);
      return this.returnOrShow(headers, reply, request);
    }
    if (this.requests.isForSession(request, account)) return this.logOut(raw, reply, request);
    if (refused) addErrorToLog(raw, refused, descriptionOf(refused.reason));
    const { user, cookie } = account;
    const page = confirmLogoutPage({
      translator: this.language.translatorFor({ headers, query, uiLocales, user }),
      product: this.configuration.PRODUCT_NAME,
      user,
      cookie,
      client,
      query: confirmationQuery(request),
      refused,
      sent: query,
    });
    this.pages.page(reply, refused?.status ?? 200, page);
  }

  /** Receives the form of the confirmation page. The query repeats the end-session request. */
  @Post(ENDPOINTS.logoutConfirm)
  @ConfirmLogoutOperation
  @ProtectForm('end_session')
  async confirm(@Req() { url, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const request = await this.requests.read(rawQuery(url));
    if (request.client) addLogContext(raw, { client_id: request.client.clientId });
    await this.logOut(raw, reply, request);
  }

  private async logOut(
    raw: FastifyRequest['raw'],
    reply: FastifyReply,
    request: EndSessionRequest,
  ): Promise<void> {
    const { location, cookie } = await this.logouts.logOut(raw, locationOf(request));
    reply.header('Set-Cookie', this.cookies.set(cookie));
    this.pages.seeOther(reply, location);
  }

  /** Redirects a browser without a session to the application, or shows the page after a log-out. */
  private async returnOrShow(
    headers: IncomingHttpHeaders,
    reply: FastifyReply,
    request: EndSessionRequest,
  ): Promise<void> {
    const location = locationOf(request) ?? (await this.logouts.storedReturn(headers.cookie));
    if (location !== null) return this.pages.seeOther(reply, location);
    await this.showLoggedOut(headers, reply, request.uiLocales);
  }

  private async showLoggedOut(
    headers: IncomingHttpHeaders,
    reply: FastifyReply,
    uiLocales: string | null = null,
  ): Promise<void> {
    // With password logins, the page after a log-out is the login page.
    if (this.keys.isEmpty && this.logouts.landing !== ENDPOINTS.logout)
      throw new RefusedRequestError(405, 'this path answers POST only', { headers: { Allow: 'POST' } });
    const { cookie, session } = await this.sessions.findVisitor(headers.cookie);
    if (session) return this.pages.seeOther(reply, ENDPOINTS.account);
    const translator = this.language.translatorFor({ headers, uiLocales });
    this.pages.page(reply, 200, loggedOutPage(translator, await this.logouts.message(cookie)));
  }
}
