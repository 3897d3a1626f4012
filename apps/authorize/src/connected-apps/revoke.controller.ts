import { ENDPOINTS } from '#oauth/endpoints.js';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuthorizationContextStore } from '#database/client/authorization-context.store.js';
import {
  type RevocationResult,
  RevocationService,
  UnfinishedRevocationError,
} from '#grants/revocation.service.js';
import { CACHED_MS } from '#introspection/introspector.js';
import { noteError } from '#platform/http/note-error.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { addLogContext, referenceOf } from '#platform/logging/log-context.js';
import { rawQuery } from '../authorize/raw-query.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { loginAddressTo } from '../login/login-address.js';
import { type Notice, NOTICE_QUERY } from '../session/notice.js';
import { NoticeStore } from '../session/notice.store.js';
import { PageResponder } from '../ui/page.responder.js';
import { type CurrentAccount, CurrentAccountService } from '../session/current-account.service.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import { unfinishedPage } from './unfinished.page.js';

/** Until every cache has dropped a token that it was not told of. */
const SECONDS = CACHED_MS / 1000;

const NOT_CONNECTED: Notice = { id: 'notice.not_connected' };

/** What is to be revoked, by the form that says so; all of it when no client is named. */
interface Revocation {
  readonly account: CurrentAccount;
  readonly clientId: string | null;
}

/** Ends the access of one application, or of all. */
@Controller()
export class RevokeController {
  constructor(
    private readonly accounts: CurrentAccountService,
    private readonly context: AuthorizationContextStore,
    private readonly revocations: RevocationService,
    private readonly notices: NoticeStore,
    private readonly forms: FormGuard,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
  ) {}

  @Post(ENDPOINTS.revokeApp)
  async one(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    this.forms.check(request.headers, fields, 'revoke');
    const account = await this.accounts.find(request.headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddressTo('apps'));
    // Not by its live grants: those that are revoked once more, because Redis did not answer before, are none of them.
    const { client } = await this.context.find(String(fields['client_id']), null);
    if (!client) return this.done(reply, account, NOT_CONNECTED);
    const done = await this.revoke(request, reply, { account, clientId: client.clientId });
    if (!done) return;
    if (done.grants === 0) return this.done(reply, account, NOT_CONNECTED);
    const id = done.announced ? 'notice.revoked' : 'notice.revoked_soon';
    await this.done(reply, account, { id, values: { client: client.name, seconds: SECONDS } });
  }

  @Post(ENDPOINTS.revokeAllApps)
  async all(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    this.forms.check(request.headers, fields, 'revoke_all');
    const account = await this.accounts.find(request.headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginAddressTo('apps'));
    const done = await this.revoke(request, reply, { account, clientId: null });
    if (!done) return;
    const id = done.announced ? 'notice.all_revoked' : 'notice.all_revoked_soon';
    await this.done(reply, account, { id, values: { seconds: SECONDS } });
  }

  /** Null when it is not finished; the page that says so is sent then. */
  private async revoke(
    { raw, headers, url }: FastifyRequest,
    reply: FastifyReply,
    { account: { user, cookie }, clientId }: Revocation,
  ): Promise<RevocationResult | null> {
    addLogContext(raw, { user_id: user.id, ...(clientId !== null && { client_id: clientId }) });
    try {
      const done = await this.revocations.revokeGrants(user.id, clientId);
      addLogContext(raw, { outcome: 'access revoked', ...done });
      return done;
    } catch (thrown) {
      if (!(thrown instanceof UnfinishedRevocationError)) throw thrown;
      const error = OAuthError.from(thrown);
      noteError(raw, error);
      const words = this.language.for({ headers, query: rawQuery(url), user });
      reply.headers(error.headers);
      const page = unfinishedPage({ words, cookie, clientId, reference: referenceOf(raw) });
      this.pages.page(reply, error.status, page);
      return null;
    }
  }

  private async done(reply: FastifyReply, { cookie }: CurrentAccount, notice: Notice): Promise<void> {
    await this.notices.leave(cookie, notice);
    this.pages.seeOther(reply, `${ENDPOINTS.connectedApps}?${NOTICE_QUERY}`);
  }
}
