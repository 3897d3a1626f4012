import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConnectedAppStore } from '#database/grant/connected-app.store.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { rawQuery } from '../authorize/raw-query.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { loginAddressTo } from '../login/login-address.js';
import { hasNotice, NOTICE_QUERY } from '../session/notice.js';
import { NoticeStore } from '../session/notice.store.js';
import { PageResponder } from '../ui/page.responder.js';
import { CurrentAccountService } from '../session/current-account.service.js';
import { appsPage } from './apps-page.js';
import { connectedAppsPage } from './connected-apps.page.js';
import { revokeAllPage, revokePage } from './revoke.page.js';

/** Shows the applications that a user lets in, and asks before one of them loses its access. */
@Controller()
export class ConnectedAppsController {
  constructor(
    private readonly accounts: CurrentAccountService,
    private readonly apps: ConnectedAppStore,
    private readonly notices: NoticeStore,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  @Get(ENDPOINTS.connectedApps)
  async list(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddressTo('apps'));
    const { user, cookie } = account;
    const query = rawQuery(url);
    const [apps, notice] = await Promise.all([
      this.apps.list(user.id),
      hasNotice(query) ? this.notices.take(cookie) : null,
    ]);
    const list = appsPage(apps, new URLSearchParams(query).get('page'));
    const words = this.language.for({ headers, query, user });
    const { PRODUCT_NAME: product } = this.configuration;
    this.pages.page(reply, 200, connectedAppsPage({ words, user, list, notice, product }));
  }

  @Get(ENDPOINTS.revokeApp)
  async askOne(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddressTo('apps'));
    const { user, cookie } = account;
    const query = rawQuery(url);
    const app = await this.apps.find(user.id, new URLSearchParams(query).get('client_id') ?? '');
    if (app) {
      const words = this.language.for({ headers, query, user });
      return this.pages.page(reply, 200, revokePage(words, app, cookie));
    }
    await this.notices.leave(cookie, { id: 'notice.not_connected' });
    this.pages.seeOther(reply, `${ENDPOINTS.connectedApps}?${NOTICE_QUERY}`);
  }

  @Get(ENDPOINTS.revokeAllApps)
  async askAll(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.accounts.find(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddressTo('apps'));
    const { user, cookie } = account;
    const apps = await this.apps.list(user.id);
    if (apps.length === 0) return this.pages.seeOther(reply, ENDPOINTS.connectedApps);
    const words = this.language.for({ headers, query: rawQuery(url), user });
    this.pages.page(reply, 200, revokeAllPage(words, apps, cookie));
  }
}
