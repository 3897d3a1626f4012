import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addAuditEvent } from '#audit/request-events.js';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { ConnectedAppStore } from '#grants/records/connected-app.store.js';
import {
  type RevocationResult,
  RevocationService,
  UnfinishedRevocationError,
} from '#grants/revocation.service.js';
import { CACHED_MS } from '#introspection/introspector.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { descriptionOf } from '#error-guide/error-description.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { addErrorToLog, addLogContext, referenceOf } from '#platform/logging/request-log.js';
import { loginReturningTo, rawQuery, withQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { type CurrentAccount, SessionService } from '../session/session.service.js';
import type { FlashMessage } from '../ui/components.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { appsPage, connectedAppsPage } from './connected-apps.page.js';
import { incompletePage, revokeAllPage, revokePage } from './revoke.page.js';
import {
  ConfirmRevokeAllOperation,
  ConfirmRevokeOperation,
  ListOperation,
  RevokeAllOperation,
  RevokeAppOperation,
} from './connected-apps.openapi.js';

/** Seconds for which a cache that missed a revocation may still accept the token. */
const CACHED_SECONDS = CACHED_MS / 1000;

const NOT_CONNECTED: FlashMessage = { id: 'flash.not_connected' };

@Controller()
export class ConnectedAppsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly apps: ConnectedAppStore,
    private readonly clients: AuthorizationContextStore,
    private readonly revocations: RevocationService,
    private readonly flashMessages: FlashMessageStore,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  @Get(ENDPOINTS.connectedApps)
  @ListOperation
  async list(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.redirectToLogin(reply);
    const { user, cookie } = account;
    const query = rawQuery(url);
    const [apps, flash] = await Promise.all([
      this.apps.list(user.id),
      this.flashMessages.consume(cookie, query),
    ]);
    const list = appsPage(apps, new URLSearchParams(query).get('page'));
    const translator = this.language.translatorFor({ headers, query, user });
    const { PRODUCT_NAME: product } = this.configuration;
    this.pages.page(reply, 200, connectedAppsPage({ translator, user, list, flash, product }));
  }

  @Get(ENDPOINTS.revokeApp)
  @ConfirmRevokeOperation
  async confirmRevoke(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.redirectToLogin(reply);
    const { user, cookie } = account;
    const query = rawQuery(url);
    const app = await this.apps.find(user.id, new URLSearchParams(query).get('client_id') ?? '');
    if (!app) return this.redirectToList(reply, account, NOT_CONNECTED);
    const translator = this.language.translatorFor({ headers, query, user });
    this.pages.page(reply, 200, revokePage(translator, app, cookie));
  }

  @Post(ENDPOINTS.revokeApp)
  @RevokeAppOperation
  @ProtectForm('revoke')
  async revoke(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const account = await this.sessions.findAccount(request.headers.cookie);
    if (!account) return this.redirectToLogin(reply);
    // Looks up the client and not a live grant, so that a retry works after a revocation that failed in Redis.
    const { client } = await this.clients.find(String(fields['client_id']), null);
    if (!client) return this.redirectToList(reply, account, NOT_CONNECTED);
    const revocation = await this.revokeOrExplain(request, reply, account, client.clientId);
    if (!revocation) return;
    // The same message without a grant, because the form may have been sent twice.
    const id = revocation.announced ? 'flash.revoked' : 'flash.revoked_soon';
    const values = { client: client.name, seconds: CACHED_SECONDS };
    await this.redirectToList(reply, account, { id, values });
  }

  @Get(ENDPOINTS.revokeAllApps)
  @ConfirmRevokeAllOperation
  async confirmRevokeAll(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.redirectToLogin(reply);
    const { user, cookie } = account;
    const apps = await this.apps.list(user.id);
    if (apps.length === 0) return this.pages.seeOther(reply, ENDPOINTS.connectedApps);
    const translator = this.language.translatorFor({ headers, query: rawQuery(url), user });
    this.pages.page(reply, 200, revokeAllPage(translator, apps, cookie));
  }

  @Post(ENDPOINTS.revokeAllApps)
  @RevokeAllOperation
  @ProtectForm('revoke_all')
  async revokeAll(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const account = await this.sessions.findAccount(request.headers.cookie);
    if (!account) return this.redirectToLogin(reply);
    const revocation = await this.revokeOrExplain(request, reply, account, null);
    if (!revocation) return;
    const id = revocation.announced ? 'flash.all_revoked' : 'flash.all_revoked_soon';
    await this.redirectToList(reply, account, { id, values: { seconds: CACHED_SECONDS } });
  }

  /** @returns null if the revocation is incomplete and its page was sent */
  private async revokeOrExplain(
    { raw, headers, url }: FastifyRequest,
    reply: FastifyReply,
    { user, cookie }: CurrentAccount,
    clientId: string | null,
  ): Promise<RevocationResult | null> {
    addLogContext(raw, { user_id: user.id, ...(clientId !== null && { client_id: clientId }) });
    try {
      const revocation = await this.revocations.revokeGrants(user.id, clientId);
      addLogContext(raw, { outcome: 'access revoked', ...revocation });
      addAuditEvent(raw, 'grant.revoked');
      return revocation;
    } catch (thrown) {
      if (!(thrown instanceof UnfinishedRevocationError)) throw thrown;
      const error = OAuthError.fromFailure(failedRequest(thrown));
      addErrorToLog(raw, error, descriptionOf(error.reason));
      const translator = this.language.translatorFor({ headers, query: rawQuery(url), user });
      reply.headers(error.headers);
      const page = incompletePage({ translator, cookie, clientId, reference: referenceOf(raw) });
      this.pages.page(reply, error.status, page);
      return null;
    }
  }

  private redirectToLogin(reply: FastifyReply): void {
    this.pages.seeOther(reply, loginReturningTo('apps'));
  }

  private async redirectToList(
    reply: FastifyReply,
    { cookie }: CurrentAccount,
    message: FlashMessage,
  ): Promise<void> {
    await this.flashMessages.save(cookie, message);
    this.pages.seeOther(reply, withQuery(ENDPOINTS.connectedApps, FLASH_QUERY));
  }
}
