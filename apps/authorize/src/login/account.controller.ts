import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UserStore } from '#directory/user.store.js';
import { noteOutcome } from '#service/logging/request-outcome.js';
import { rawQuery } from '../authorize/raw-query.js';
import { PageResponder } from '../page/page.responder.js';
import { BrowserCookie } from '../session/browser-cookie.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { SessionService } from '../session/session.service.js';
import { accountPage } from './account.page.js';
import { loginAddress } from './login-address.js';

@Controller('auth')
export class AccountController {
  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: BrowserCookie,
    private readonly forms: FormGuard,
    private readonly pages: PageResponder,
  ) {}

  // Nest takes one slash off the end of a path: this is /auth and /auth/.
  @Get(['', '//'])
  async show(@Req() { headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { cookie, session } = await this.sessions.recognise(headers.cookie);
    const user = session && (await this.users.find(session.userId));
    if (cookie !== null && user) return this.pages.page(reply, 200, accountPage(user, cookie));
    if (cookie !== null && session) await this.sessions.end(cookie);
    this.pages.seeOther(reply, loginAddress(''));
  }

  /** Logs out; with an authorization request in the query, to go on with it as somebody else. */
  @Post('logout')
  async logout(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    const cookie = this.forms.check(request.headers, body ?? {}, 'logout');
    await this.sessions.end(cookie);
    noteOutcome(request.raw, { outcome: 'logged out' });
    reply.header('Set-Cookie', this.cookies.take());
    this.pages.seeOther(reply, loginAddress(rawQuery(request.url)));
  }
}
