import { ENDPOINTS } from '#oauth/endpoints.js';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { User } from '#database/user/user.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { RedirectableError } from '#oauth/authorization/redirectable.error.js';
import { isAsStated, isTicked } from '../consent/consent-fields.js';
import { consentPage, type ConsentForm } from '../consent/consent.page.js';
import { ConsentEndedError } from '../consent/consent-ended.error.js';
import { ConsentService } from '../consent/consent.service.js';
import { neededInteraction } from '../consent/needed-interaction.js';
import { allowedBefore, chosen } from '../consent/remembered-consent.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { authorizeAddress, loginAddress } from '../login/login-address.js';
import type { Page } from '../ui/document.js';
import { PageResponder } from '../ui/page.responder.js';
import { FormGuard, type FormFields } from '../session/form-guard.js';
import type { Visitor } from '../session/session.js';
import { SessionService } from '../session/session.service.js';
import { AuthorizationRequestService } from './authorization-request.service.js';
import { AuthorizationResponse } from './authorization-response.js';
import type { IncomingRequest } from './incoming-request.js';
import { promptNoneError } from './prompt-none-error.js';
import { PushedRequestService } from './pushed-request.service.js';
import { rawQuery } from './raw-query.js';

/** The authorization endpoint (specification 4.1, RFC 6749 3.1). */
@Controller(ENDPOINTS.authorize)
export class AuthorizeController {
  constructor(
    private readonly requests: AuthorizationRequestService,
    private readonly pushed: PushedRequestService,
    private readonly response: AuthorizationResponse,
    private readonly sessions: SessionService,
    private readonly consent: ConsentService,
    private readonly forms: FormGuard,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  @Get()
  async ask(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const visitor = await this.sessions.recognise(headers.cookie);
    const request = await this.requests.read(query, visitor.session);
    addLogContext(raw, factsOf(request));
    const needed = neededInteraction(request, this.sessions.isLoginFor(visitor.session, query));
    if (needed.page !== null && request.prompt.has('none')) throw promptNoneError(needed.page, request);
    const { user } = request;
    const { cookie } = visitor;
    if (needed.page === 'login' || !user || cookie === null)
      return this.logIn(reply, request, visitor, query);
    if (needed.page === 'consent')
      return this.pages.page(reply, 200, this.page(headers, { request, user, cookie, query }));
    if (!(await this.spendsLogin(request, visitor, query))) return this.logIn(reply, request, visitor, query);
    // An application of the product itself also gets what nobody was ever asked for.
    const carriesOn = !request.client.firstParty || allowedBefore(request.asked) !== null;
    const answer = { scope: needed.scope, outcome: 'allowed before', carriesOn };
    this.pages.seeOther(reply, await this.grant(raw, request, user, query, answer));
  }

  @Post()
  async decide(
    @Req() { url, headers, raw }: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: FormFields | undefined,
  ): Promise<void> {
    const fields = body ?? {};
    const cookie = this.forms.check(headers, fields, 'consent');
    const query = rawQuery(url);
    const visitor = await this.sessions.recognise(headers.cookie);
    const request = await this.requests.read(query, visitor.session);
    addLogContext(raw, factsOf(request));
    const { client, user, asked } = request;
    if (!user) return this.logIn(reply, request, visitor, query);
    const decision = fields['decision'];
    if (decision !== 'allow' && decision !== 'deny')
      throw OAuthError.invalidRequest("the parameter 'decision' must be allow or deny", {
        detail: { check: 'decision', client_id: client.clientId },
      });
    const scope = chosen(asked, isTicked(fields));
    if (decision === 'allow' && (scope === '' || !isAsStated(asked, fields))) {
      // Asked again: what the user saw and left unticked is not what the request means now, or nothing at all.
      const nothingChosen = scope === '';
      const page = this.page(headers, { request, user, cookie, query, nothingChosen });
      return this.pages.page(reply, nothingChosen ? 400 : 200, page);
    }
    if (!(await this.spendsLogin(request, visitor, query))) return this.logIn(reply, request, visitor, query);
    if (decision === 'deny') throw await this.denied(request, user);
    const answer = { scope, outcome: 'allowed', carriesOn: false };
    this.pages.seeOther(reply, await this.grant(raw, request, user, query, answer));
  }

  private page(
    headers: FastifyRequest['headers'],
    form: Omit<ConsentForm, 'words' | 'product' | 'avatarOrigins'>,
  ): Page {
    const { uiLocales } = form.request;
    const words = this.language.for({ headers, query: form.query, uiLocales, user: form.user });
    const { PRODUCT_NAME: product, avatarOrigins } = this.configuration;
    return consentPage({ ...form, words, product, avatarOrigins });
  }

  /** A session that is over would lead back here from the login page, in a circle. */
  private async logIn(
    reply: FastifyReply,
    { user }: IncomingRequest,
    visitor: Visitor,
    query: string,
  ): Promise<void> {
    if (visitor.cookie !== null && visitor.session && !user) await this.sessions.end(visitor.cookie);
    this.pages.seeOther(reply, loginAddress(query));
  }

  /** OpenID Connect Core 3.1.2.1: with prompt=login no earlier login counts, hence each one for a single answer. */
  private async spendsLogin(
    { prompt }: IncomingRequest,
    { cookie, session }: Visitor,
    query: string,
  ): Promise<boolean> {
    if (!prompt.has('login')) return true;
    return cookie !== null && session !== null && this.sessions.spendLogin(cookie, session, query);
  }

  /** @returns the redirect with the code, or back to this request if the consent ended meanwhile */
  private async grant(
    raw: FastifyRequest['raw'],
    request: IncomingRequest,
    { id: userId }: User,
    query: string,
    { scope, outcome, carriesOn }: { scope: string; outcome: string; carriesOn: boolean },
  ): Promise<string> {
    const allow = () => this.consent.allow(request, userId, scope, carriesOn);
    try {
      const { code, grantId } = await this.pushed.answer(request, allow);
      addLogContext(raw, { user_id: userId, grant: grantId, scope, outcome });
      return this.response.code(request, code);
    } catch (error) {
      if (error instanceof ConsentEndedError) return authorizeAddress(query);
      throw error;
    }
  }

  private async denied(request: IncomingRequest, { id }: User): Promise<RedirectableError> {
    await this.pushed.answer(request, async () => undefined);
    const denied = new OAuthError('access_denied', 400, 'the user denied the request', {
      detail: { check: 'decision', user_id: id },
    });
    return new RedirectableError(denied, request, request.client.clientId);
  }
}

/** What the log says of a request; the id leads to the line of its push. */
function factsOf({ client, pushedId }: IncomingRequest): Record<string, string> {
  return { client_id: client.clientId, ...(pushedId !== null && { pushed_request: pushedId }) };
}
