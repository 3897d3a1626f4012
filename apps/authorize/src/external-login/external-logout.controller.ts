import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserStore } from '#database/user/user.store.js';
import { addAuditEvent } from '#audit/request-events.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { rawQuery } from '../urls.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import { ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { SessionCookie, SessionService } from '../session/session.service.js';
import type { FlashMessage } from '../ui/components.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { PageResponder } from '../ui/page.responder.js';
import { ExternalLoginService } from './external-login.service.js';
import { loggedOutPage } from './logged-out.page.js';
import { LoginProvider } from './login-provider.js';
import { LOGOUT_EVERYWHERE_OPERATION, LOGOUT_OPERATION } from '../login/logout.openapi.js';
import { LOGGED_OUT_OPERATION } from './external-login.openapi.js';

@Controller()
export class ExternalLogoutController {
  constructor(
    private readonly provider: LoginProvider,
    private readonly logins: ExternalLoginService,
    private readonly requests: AuthorizationRequestService,
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: SessionCookie,
    private readonly flashMessages: FlashMessageStore,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
  ) {}

  /** A redirect to the login would lead to the provider, which may log the user in again immediately. */
  @Get(ENDPOINTS.logout)
  @ApiOperation(LOGGED_OUT_OPERATION)
  async show(@Req() { headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { cookie, session } = await this.sessions.findVisitor(headers.cookie);
    if (session) return this.pages.seeOther(reply, ENDPOINTS.account);
    const message = cookie === null ? null : await this.flashMessages.consume(cookie, FLASH_QUERY);
    const translator = this.language.translatorFor({ headers });
    this.pages.page(reply, 200, loggedOutPage(translator, message ?? { id: 'flash.logged_out' }));
  }

  /** With an authorization request in the query, a new login continues it, for example as another user. */
  @Post(ENDPOINTS.logout)
  @ApiOperation(LOGOUT_OPERATION)
  @ProtectForm('logout')
  async logout(@Req() { url, headers, raw, ip }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    addLogContext(raw, { outcome: 'logged out' });
    if (query === '') return this.leave(raw, reply, { id: 'flash.logged_out' });
    // Done first, because starting the next login can fail.
    await this.end(raw, this.cookies.read(headers.cookie));
    reply.header('Set-Cookie', this.cookies.clear());
    const request = await this.requests.validateOrNull(query, null);
    // Without select_account the provider would log the same user in again.
    const visitor = { cookies: headers.cookie, address: ip };
    const { location, cookies } = await this.logins.start(visitor, query, request, ['select_account']);
    reply.header('Set-Cookie', [this.cookies.clear(), ...cookies]);
    this.pages.seeOther(reply, location);
  }

  @Post(ENDPOINTS.logoutEverywhere)
  @ApiOperation(LOGOUT_EVERYWHERE_OPERATION)
  @ProtectForm('logout_everywhere')
  async logoutEverywhere(@Req() { headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.pages.seeOther(reply, ENDPOINTS.login);
    await this.users.endSessions(account.user.id);
    addLogContext(raw, { user_id: account.user.id, outcome: 'logged out everywhere' });
    addAuditEvent(raw, 'login.ended');
    await this.leave(raw, reply, { id: 'flash.logged_out_everywhere' });
  }

  private async leave(raw: FastifyRequest['raw'], reply: FastifyReply, message: FlashMessage): Promise<void> {
    const { cookie, session } = await this.sessions.findVisitor(raw.headers.cookie);
    await this.end(raw, cookie);
    const next = this.cookies.generate();
    await this.flashMessages.save(next, message);
    const providerLogout = cookie && session ? await this.provider.logoutUrl(cookie, session) : null;
    reply.header('Set-Cookie', this.cookies.set(next));
    this.pages.seeOther(reply, providerLogout ?? ENDPOINTS.logout);
  }

  private async end(raw: FastifyRequest['raw'], cookie: string | null): Promise<void> {
    const ended = await this.sessions.end(cookie);
    if (!ended) return;
    addLogContext(raw, { user_id: ended.userId });
    addAuditEvent(raw, 'login.ended');
  }
}
