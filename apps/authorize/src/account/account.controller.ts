import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLocale } from '#oauth/locale.js';
import { UserStore } from '#database/user/user.store.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { rawQuery } from '../authorize/raw-query.js';
import { LanguageCookie } from '../ui/i18n/language-cookie.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { loginAddress } from '../login/login-address.js';
import { hasNotice, type Notice, NOTICE_QUERY } from '../session/notice.js';
import { NoticeStore } from '../session/notice.store.js';
import { PageResponder } from '../ui/page.responder.js';
import { BrowserCookie } from '../session/browser-cookie.js';
import { CurrentAccountService } from '../session/current-account.service.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { SessionService } from '../session/session.service.js';
import { accountPage, BROWSER_LANGUAGE } from './account.page.js';

/** The user's own page: who is logged in, in which language, and the ways out. */
@Controller('auth')
export class AccountController {
  constructor(
    private readonly accounts: CurrentAccountService,
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly cookies: BrowserCookie,
    private readonly languageCookie: LanguageCookie,
    private readonly notices: NoticeStore,
    private readonly forms: FormGuard,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  // Nest takes one slash off the end of a path: this is /auth and /auth/.
  @Get(['', '//'])
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddress(''));
    const query = rawQuery(url);
    const words = this.language.for({ headers, query, user: account.user });
    const notice = hasNotice(query) ? await this.notices.take(account.cookie) : null;
    const { avatarOrigins } = this.configuration;
    this.pages.page(reply, 200, accountPage({ words, ...account, notice, avatarOrigins }));
  }

  @Post('language')
  async setLanguage(
    @Req() { headers, raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    const fields = body ?? {};
    this.forms.check(headers, fields, 'language');
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddress(''));
    const locale = localeOf(fields['locale']);
    await this.users.setLocale(account.user.id, locale);
    addLogContext(raw, { user_id: account.user.id, outcome: 'language set', locale });
    await this.notices.leave(account.cookie, { id: 'notice.language' });
    reply.header('Set-Cookie', this.languageCookie.keep(headers.cookie, locale));
    this.pages.seeOther(reply, `/auth/?${NOTICE_QUERY}`);
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
    addLogContext(request.raw, { outcome: 'logged out' });
    const query = rawQuery(request.url);
    if (query === '') return this.sayOnLogin(reply, { id: 'notice.logged_out' });
    reply.header('Set-Cookie', this.cookies.take());
    this.pages.seeOther(reply, loginAddress(query));
  }

  /** Ends every session of the user, this one too. What applications may do is untouched. */
  @Post('logout-everywhere')
  async logoutEverywhere(
    @Req() { headers, raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    this.forms.check(headers, body ?? {}, 'logout_everywhere');
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddress(''));
    await this.users.endSessions(account.user.id);
    addLogContext(raw, { user_id: account.user.id, outcome: 'logged out everywhere' });
    // Over for everybody who reads the user's generation by now; this only takes the rest of it out of Redis.
    await this.sessions.end(account.cookie);
    await this.sayOnLogin(reply, { id: 'notice.logged_out_everywhere' });
  }

  /** The session's cookie is over; the notice waits under the one that the login page would give anyway. */
  private async sayOnLogin(reply: FastifyReply, notice: Notice): Promise<void> {
    const cookie = this.cookies.make();
    await this.notices.leave(cookie, notice);
    reply.header('Set-Cookie', this.cookies.give(cookie));
    this.pages.seeOther(reply, loginAddress(NOTICE_QUERY));
  }
}

/** Null for the browser's. */
function localeOf(value: unknown): string | null {
  if (value === BROWSER_LANGUAGE) return null;
  if (typeof value === 'string' && isLocale(value)) return value;
  throw OAuthError.invalidRequest("the parameter 'locale' must be one of the languages offered", {
    detail: { check: 'locale' },
  });
}
