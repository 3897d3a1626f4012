import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiOperation } from '#openapi/operation.js';
import { UserStore } from '#users/user.store.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { errorPages, ReceivesForm, seeOther, ShowsPage } from '../ui/page.openapi.js';
import { rawQuery, withQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { SessionService } from '../session/session.service.js';
import { isLocale } from '#ui/i18n.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { accountPage, BROWSER_LANGUAGE } from './account.page.js';

const RootOperation = ApiOperation({
  id: 'root',
  tag: 'Pages',
  summary: 'Redirects to the account page',
  responses: { 303: seeOther('To the account page.'), ...errorPages() },
});

const AccountOperation = ShowsPage({
  id: 'account',
  summary: 'The account page',
  description: 'Also at `/auth/`.',
  shows: 'The account page.',
});

const LanguageOperation = ReceivesForm({
  id: 'setLanguage',
  summary: 'Sets the language of the pages',
  fields: { locale: 'One of the offered languages, or `browser`.' },
  continuesTo: 'To the account page.',
});

@Controller()
export class AccountController {
  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionService,
    private readonly flashMessages: FlashMessageStore,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  @Get()
  @RootOperation
  redirectToAccount(@Res() reply: FastifyReply): void {
    this.pages.seeOther(reply, ENDPOINTS.account);
  }

  // Nest strips one trailing slash from a path, so `auth//` serves /auth/.
  @Get(['auth', 'auth//'])
  @AccountOperation
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.pages.seeOther(reply, ENDPOINTS.login);
    const query = rawQuery(url);
    const translator = this.language.translatorFor({ headers, query, user: account.user });
    const flash = await this.flashMessages.consume(account.cookie, query);
    const { avatarOrigins } = this.configuration;
    this.pages.page(reply, 200, accountPage({ translator, ...account, flash, avatarOrigins }));
  }

  @Post(ENDPOINTS.language)
  @LanguageOperation
  @ProtectForm('language')
  async setLanguage(
    @Req() { headers, raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.pages.seeOther(reply, ENDPOINTS.login);
    const locale = localeOf(fields['locale']);
    await this.users.setLocale(account.user.id, locale);
    addLogContext(raw, { user_id: account.user.id, outcome: 'language set', locale });
    await this.flashMessages.save(account.cookie, { id: 'flash.language' });
    reply.header('Set-Cookie', this.language.remember(headers.cookie, locale));
    this.pages.seeOther(reply, withQuery(ENDPOINTS.account, FLASH_QUERY));
  }
}

function localeOf(value: unknown): string | null {
  if (value === BROWSER_LANGUAGE) return null;
  if (typeof value === 'string' && isLocale(value)) return value;
  throw OAuthError.invalidRequest('locale_unsupported');
}
