import { ENDPOINTS } from '#oauth/endpoints.js';
import type { IncomingHttpHeaders } from 'node:http';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addLogContext } from '#platform/logging/log-context.js';
import { AuthorizationRequestService } from '../authorize/authorization-request.service.js';
import type { IncomingRequest } from '../authorize/incoming-request.js';
import { rawQuery } from '../authorize/raw-query.js';
import { neededInteraction } from '../consent/needed-interaction.js';
import { LanguageCookie } from '../ui/i18n/language-cookie.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import type { Words } from '../ui/i18n/words.js';
import { hasNotice } from '../session/notice.js';
import { NoticeStore } from '../session/notice.store.js';
import { PageResponder } from '../ui/page.responder.js';
import { BrowserCookie } from '../session/browser-cookie.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { SessionService } from '../session/session.service.js';
import { DeviceCookie } from './throttle/device-cookie.js';
import { LoginThrottle } from './throttle/login-throttle.service.js';
import { afterLogin } from './login-address.js';
import { loginPage } from './login.page.js';
import { LoginService } from './login.service.js';

@Controller(ENDPOINTS.login)
export class LoginController {
  constructor(
    private readonly login: LoginService,
    private readonly requests: AuthorizationRequestService,
    private readonly throttle: LoginThrottle,
    private readonly devices: DeviceCookie,
    private readonly sessions: SessionService,
    private readonly cookies: BrowserCookie,
    private readonly languageCookie: LanguageCookie,
    private readonly notices: NoticeStore,
    private readonly forms: FormGuard,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const visitor = await this.sessions.recognise(headers.cookie);
    const { session } = visitor;
    const request = await this.requests.readIfGood(query, session);
    const loggedInForIt = this.sessions.isLoginFor(session, query);
    const needed = request && neededInteraction(request, loggedInForIt).page;
    // Without a request that needs it, whatever page comes next knows better whether the session is still good.
    if (session && needed !== 'login') return this.pages.seeOther(reply, afterLogin(query));
    const cookie = visitor.cookie ?? this.cookies.make();
    if (visitor.cookie === null) reply.header('Set-Cookie', this.cookies.give(cookie));
    const words = this.words(headers, query, request);
    const username = request?.loginHint?.trim() || request?.user?.email || '';
    const notice = hasNotice(query) ? await this.notices.take(cookie) : null;
    this.pages.page(reply, 200, loginPage({ words, cookie, query, request, username, notice }));
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
    const cookies = request.headers.cookie;
    const result = await this.login.authenticate(fields, { address: request.ip, cookies });
    if ('user' in result) {
      const { user, attempt } = result;
      addLogContext(request.raw, { user_id: user.id, outcome: 'logged in' });
      // At once, hence one round trip.
      const [session] = await Promise.all([
        this.sessions.begin(cookie, user, query),
        this.throttle.settle(attempt),
      ]);
      reply.header('Set-Cookie', [
        this.cookies.give(session),
        this.devices.give(cookies, user),
        ...this.languageCookie.keep(cookies, user.locale),
      ]);
      return this.pages.seeOther(reply, afterLogin(query));
    }
    addLogContext(request.raw, result.detail);
    const { username } = fields;
    const { status, problem, retryAfter } = result;
    if (retryAfter !== undefined) reply.header('Retry-After', String(retryAfter));
    // As the page before: the next try may lead to the application at once, which the page must allow.
    const asking = await this.requests.readIfGood(query, null);
    const words = this.words(request.headers, query, asking);
    const form = { words, cookie, query, request: asking, problem };
    this.pages.page(reply, status, loginPage({ ...form, ...(typeof username === 'string' && { username }) }));
  }

  private words(headers: IncomingHttpHeaders, query: string, request: IncomingRequest | null): Words {
    const { uiLocales = null, user = null } = request ?? {};
    return this.language.for({ headers, query, uiLocales, user });
  }
}
