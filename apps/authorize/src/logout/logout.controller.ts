import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserStore } from '#database/user/user.store.js';
import { addAuditEvent } from '#audit/request-events.js';
import { LogoutPublisher } from '#messaging/logout/logout-publisher.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ApiOperation } from '#openapi/operation.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { CSRF_FIELD } from '#ui/browser-cookie.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { SessionCookie, SessionService } from '../session/session.service.js';
import type { FlashMessage } from '../ui/components.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { PageResponder } from '../ui/page.responder.js';
import { postedQuery, rawQuery, withQuery } from '../urls.js';
import {
  confirmationQuery,
  type EndSessionRequest,
  EndSessionRequestService,
  locationOf,
} from './end-session-request.service.js';
import { LogoutContinuation } from './logout-continuation.js';
import { LogoutReturnStore } from './logout-return.store.js';
import {
  CONFIRM_LOGOUT_OPERATION,
  END_SESSION_OPERATION,
  LOGOUT_EVERYWHERE_OPERATION,
  LOGOUT_OPERATION,
} from './logout.openapi.js';
import { confirmLogoutPage, loggedOutPage } from './logout.page.js';

type Raw = FastifyRequest['raw'];

@Controller()
export class LogoutController {
  constructor(
    private readonly requests: EndSessionRequestService,
    private readonly continuation: LogoutContinuation,
    private readonly returns: LogoutReturnStore,
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: SessionCookie,
    private readonly endings: LogoutPublisher,
    private readonly flashMessages: FlashMessageStore,
    private readonly keys: SigningKeys,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** The end-session endpoint (RP-Initiated Logout 1.0 2), and the page after a log-out. */
  @Get(ENDPOINTS.logout)
  @ApiOperation(END_SESSION_OPERATION)
  async endSession(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (this.keys.isEmpty) return this.showLoggedOut(raw, reply);
    const query = rawQuery(url);
    const request = await this.requests.validate(query);
    if (request.client) addLogContext(raw, { client_id: request.client.clientId });
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.leaveOrShow(raw, reply, request);
    if (this.requests.isForSession(request, account)) return this.logOut(raw, reply, locationOf(request));
    const { user, cookie } = account;
    const { client, uiLocales, returnTo } = request;
    const page = confirmLogoutPage({
      translator: this.language.translatorFor({ headers, query, uiLocales, user }),
      product: this.configuration.PRODUCT_NAME,
      user,
      cookie,
      client,
      query: confirmationQuery(request),
      returnTo: returnTo && returnTo.uri,
    });
    this.pages.page(reply, 200, page);
  }

  /** The log-out form, or an end-session request, which has no CSRF token and therefore never logs out by itself. */
  @Post(ENDPOINTS.logout)
  @ApiOperation(LOGOUT_OPERATION)
  @ProtectForm('logout', isPostedRequest)
  async logout(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const { url, headers, raw, ip } = request;
    if (isPostedRequest(fields, this.configuration))
      return this.pages.seeOther(reply, withQuery(ENDPOINTS.logout, postedQuery(fields)));
    const query = rawQuery(url);
    if (query === '') return this.logOut(raw, reply);
    // With an authorization request in the query, a new login continues it. The log-out is first, because starting the login can
    // fail.
    addLogContext(raw, { outcome: 'logged out' });
    await this.end(raw, this.cookies.read(headers.cookie));
    reply.header('Set-Cookie', this.cookies.clear());
    const browser = { cookies: headers.cookie, address: ip };
    const { location, cookies } = await this.continuation.logInAgain(browser, query);
    reply.header('Set-Cookie', [this.cookies.clear(), ...cookies]);
    this.pages.seeOther(reply, location);
  }

  /** The form of the confirmation page, with the end-session request in the query. */
  @Post(ENDPOINTS.logoutConfirm)
  @ApiOperation(CONFIRM_LOGOUT_OPERATION)
  @ProtectForm('end_session')
  async confirm(@Req() { url, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const request = await this.requests.validate(rawQuery(url));
    if (request.client) addLogContext(raw, { client_id: request.client.clientId });
    await this.logOut(raw, reply, locationOf(request));
  }

  @Post(ENDPOINTS.logoutEverywhere)
  @ApiOperation(LOGOUT_EVERYWHERE_OPERATION)
  @ProtectForm('logout_everywhere')
  async logoutEverywhere(@Req() { headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.pages.seeOther(reply, ENDPOINTS.login);
    await this.users.endSessions(account.user.id);
    this.endings.userEnded(account.user.id);
    addLogContext(raw, { user_id: account.user.id, outcome: 'logged out everywhere' });
    addAuditEvent(raw, 'login.ended');
    await this.leave(raw, reply, null, { id: 'flash.logged_out_everywhere' });
  }

  private async logOut(raw: Raw, reply: FastifyReply, returnTo: string | null = null): Promise<void> {
    addLogContext(raw, { outcome: 'logged out' });
    await this.leave(raw, reply, returnTo, { id: 'flash.logged_out' });
  }

  /** Ends the session here, then at the login provider, then redirects to the application if it requested that. */
  private async leave(
    raw: Raw,
    reply: FastifyReply,
    returnTo: string | null,
    message: FlashMessage,
  ): Promise<void> {
    const { cookie, session } = await this.sessions.findVisitor(raw.headers.cookie);
    await this.end(raw, cookie, message.id !== 'flash.logged_out_everywhere');
    const next = this.cookies.generate();
    const atProvider = cookie && session ? await this.continuation.providerUrl(cookie, session) : null;
    if (returnTo === null) await this.flashMessages.save(next, message);
    else if (atProvider !== null) await this.returns.save(next, returnTo);
    reply.header('Set-Cookie', this.cookies.set(next));
    this.pages.seeOther(reply, atProvider ?? returnTo ?? this.continuation.landing);
  }

  /** @param isAnnounced false if the end of every session of the user is announced */
  private async end(raw: Raw, cookie: string | null, isAnnounced = true): Promise<void> {
    const ended = await this.sessions.end(cookie);
    if (!ended) return;
    if (isAnnounced) this.endings.sessionEnded(ended.sessionId);
    addLogContext(raw, { user_id: ended.userId });
    addAuditEvent(raw, 'login.ended');
  }

  /** Redirects a browser without a session to the application, also after the log-out at the login provider. */
  private async leaveOrShow(raw: Raw, reply: FastifyReply, request: EndSessionRequest): Promise<void> {
    const cookie = this.cookies.read(raw.headers.cookie);
    const location = locationOf(request) ?? (await this.returns.consume(cookie));
    if (location !== null) return this.pages.seeOther(reply, location);
    await this.showLoggedOut(raw, reply, request.uiLocales);
  }

  private async showLoggedOut(
    { headers }: Raw,
    reply: FastifyReply,
    uiLocales: string | null = null,
  ): Promise<void> {
    // Users who log in here continue at the login page.
    if (this.keys.isEmpty && this.continuation.landing !== ENDPOINTS.logout)
      throw new RefusedRequestError(405, 'this path answers POST only', { headers: { Allow: 'POST' } });
    const { cookie, session } = await this.sessions.findVisitor(headers.cookie);
    if (session) return this.pages.seeOther(reply, ENDPOINTS.account);
    const message = cookie === null ? null : await this.flashMessages.consume(cookie, FLASH_QUERY);
    const translator = this.language.translatorFor({ headers, uiLocales });
    this.pages.page(reply, 200, loggedOutPage(translator, message ?? { id: 'flash.logged_out' }));
  }
}

/** The form of this service always has a CSRF token. */
function isPostedRequest(fields: FormFields, { ID_TOKEN_KEYS }: AuthorizeConfiguration): boolean {
  return ID_TOKEN_KEYS !== '' && fields[CSRF_FIELD] === undefined;
}
