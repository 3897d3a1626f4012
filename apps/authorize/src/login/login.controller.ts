import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { noteOutcome } from '#service/logging/request-outcome.js';
import { rawQuery } from '../authorize/raw-query.js';
import { PageResponder } from '../page/page.responder.js';
import { BrowserCookie } from '../session/browser-cookie.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { SessionService } from '../session/session.service.js';
import { afterLogin } from './login-address.js';
import { loginPage } from './login.page.js';
import { LoginService } from './login.service.js';

@Controller('auth/login')
export class LoginController {
  constructor(
    private readonly login: LoginService,
    private readonly sessions: SessionService,
    private readonly cookies: BrowserCookie,
    private readonly forms: FormGuard,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const visitor = await this.sessions.recognise(headers.cookie);
    if (visitor.session) return this.pages.seeOther(reply, afterLogin(query));
    const cookie = visitor.cookie ?? this.cookies.make();
    if (visitor.cookie === null) reply.header('Set-Cookie', this.cookies.give(cookie));
    this.pages.page(reply, 200, loginPage({ cookie, query }));
  }

  @Post()
  async submit(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    const fields = body ?? {};
    const cookie = this.forms.check(request.headers, fields, 'login');
    const query = rawQuery(request.url);
    const result = await this.login.authenticate(fields);
    if ('user' in result) {
      noteOutcome(request.raw, { user_id: result.user.id, outcome: 'logged in' });
      reply.header('Set-Cookie', this.cookies.give(await this.sessions.begin(cookie, result.user.id)));
      return this.pages.seeOther(reply, afterLogin(query));
    }
    noteOutcome(request.raw, result.detail);
    const { username } = fields;
    const { status, problem } = result;
    this.pages.page(
      reply,
      status,
      loginPage({ cookie, query, problem, ...(typeof username === 'string' && { username }) }),
    );
  }
}
