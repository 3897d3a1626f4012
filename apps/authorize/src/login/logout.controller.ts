import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserStore } from '#database/user/user.store.js';
import { addAuditEvent } from '#audit/request-events.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { rawQuery, withQuery } from '../urls.js';
import { ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { SessionCookie, SessionService } from '../session/session.service.js';
import type { FlashMessage } from '../ui/components.js';
import { PageResponder } from '../ui/page.responder.js';
import { LOGOUT_EVERYWHERE_OPERATION, LOGOUT_OPERATION } from './logout.openapi.js';

@Controller()
export class LogoutController {
  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: SessionCookie,
    private readonly flashMessages: FlashMessageStore,
    private readonly pages: PageResponder,
  ) {}

  /** With an authorization request in the query, a new login continues it, for example as another user. */
  @Post(ENDPOINTS.logout)
  @ApiOperation(LOGOUT_OPERATION)
  @ProtectForm('logout')
  async logout(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const ended = await this.sessions.end(this.cookies.read(headers.cookie));
    addLogContext(raw, { outcome: 'logged out', ...(ended && { user_id: ended.userId }) });
    if (ended) addAuditEvent(raw, 'login.ended');
    const query = rawQuery(url);
    if (query === '') return this.redirectToLogin(reply, { id: 'flash.logged_out' });
    reply.header('Set-Cookie', this.cookies.clear());
    this.pages.seeOther(reply, withQuery(ENDPOINTS.login, query));
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
    // The new session generation has invalidated the session; this only frees memory in Redis.
    await this.sessions.end(account.cookie);
    await this.redirectToLogin(reply, { id: 'flash.logged_out_everywhere' });
  }

  private async redirectToLogin(reply: FastifyReply, message: FlashMessage): Promise<void> {
    const cookie = this.cookies.generate();
    await this.flashMessages.save(cookie, message);
    reply.header('Set-Cookie', this.cookies.set(cookie));
    this.pages.seeOther(reply, withQuery(ENDPOINTS.login, FLASH_QUERY));
  }
}
