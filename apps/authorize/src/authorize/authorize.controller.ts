import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addAuditEvent } from '#audit/request-events.js';
import type { User } from '#database/user/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { RedirectableError } from '#oauth/redirectable.error.js';
import { type ErrorDetail, OAuthError } from '#oauth/oauth-error.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { postedQuery, rawQuery, withQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { type ConsentForm, consentPage } from '../consent/consent.page.js';
import { type Approval, ConsentEndedError } from '../consent/consent.service.js';
import {
  grantedByForm,
  grantedEarlier,
  listedSameRequired,
  requiredInteraction,
} from '../consent/interaction.js';
import type { ValidatedRequest } from './validated-request.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { SessionService, type Visitor } from '../session/session.service.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { type Page, PageResponder } from '../ui/page.responder.js';
import { AuthorizationRequestService } from './authorization-request.service.js';
import { AuthorizationResponse } from './authorization-response.service.js';
import { AUTHORIZE_OPERATION, DECIDE_OPERATION } from './authorize.openapi.js';

/** The authorization endpoint (RFC 6749 3.1). */
@Controller(ENDPOINTS.authorize)
export class AuthorizeController {
  private readonly avatarOrigins: readonly string[];
  /** A single API needs no mention on the consent page. */
  private readonly hasSeveralApis: boolean;

  constructor(
    private readonly requests: AuthorizationRequestService,
    private readonly responses: AuthorizationResponse,
    private readonly sessions: SessionService,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    this.avatarOrigins = configuration.avatarOrigins;
    this.hasSeveralApis = configuration.apis.length > 1;
  }

  @Get()
  @ApiOperation(AUTHORIZE_OPERATION)
  async authorize(@Req() { url, headers, raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const visitor = await this.sessions.findVisitor(headers.cookie);
    const request = await this.requests.validate(query, visitor.session);
    addLogContext(raw, logFields(request));
    const isLoggedInForIt = this.sessions.isLoginFor(visitor.session, query);
    const needed = requiredInteraction(request, isLoggedInForIt);
    if (request.prompt.has('none')) refusePage(request, isLoggedInForIt);
    if (request.isOtherUser && isLoggedInForIt) throw otherUserError(request);
    const { user } = request;
    const { cookie, session } = visitor;
    if (needed.page === 'login' || !user || cookie === null || session === null)
      return this.redirectToLogin(reply, request, visitor, query);
    if (needed.page === 'consent')
      return this.pages.page(reply, 200, this.page(headers, { request, user, cookie, query }));
    if (!(await this.consumeLogin(request, visitor, query)))
      return this.redirectToLogin(reply, request, visitor, query);
    // A first-party application also gets scopes for which the user was never asked.
    const continuesConsent = !request.client.firstParty || grantedEarlier(request.scopes) !== null;
    const login = this.sessions.loginOf(cookie, session, { query, isForced: isLoginForced(request) });
    const approval = { scope: needed.scope, continuesConsent, login, outcome: 'allowed before' };
    await this.approve({ raw, headers }, reply, { request, user, query, ...approval });
  }

  /** The consent form, or an authorization request (OpenID Connect Core 3.1.2.1). */
  @Post()
  @ApiOperation(DECIDE_OPERATION)
  @ProtectForm('consent', isPostedRequest)
  async post(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    if (isPostedRequest(fields))
      return this.pages.seeOther(reply, withQuery(ENDPOINTS.authorize, postedQuery(fields)));
    return this.decide(request, reply, fields);
  }

  private async decide(
    { url, headers, raw }: FastifyRequest,
    reply: FastifyReply,
    fields: FormFields,
  ): Promise<void> {
    const query = rawQuery(url);
    const visitor = await this.sessions.findVisitor(headers.cookie);
    const request = await this.requests.validate(query, visitor.session);
    addLogContext(raw, logFields(request));
    const { client, user, scopes } = request;
    const { cookie, session } = visitor;
    // The login may have become too old since the page was sent, or the form may be of another request.
    const isTooOld = request.loginTooOld && !this.sessions.isLoginFor(session, query);
    if (!user || cookie === null || session === null || request.isOtherUser || isTooOld)
      return this.redirectToLogin(reply, request, visitor, query);
    const decision = fields['decision'];
    if (decision !== 'allow' && decision !== 'deny')
      throw OAuthError.invalidRequest("the parameter 'decision' must be allow or deny", {
        detail: { check: 'decision_missing', client_id: client.clientId },
      });
    const scope = grantedByForm(scopes, fields);
    const nothingChosen = scope === '';
    if (decision === 'allow' && (nothingChosen || !listedSameRequired(scopes, fields))) {
      // Shows the page again: nothing was selected, or the required scopes have changed since the page was sent.
      const page = this.page(headers, { request, user, cookie, query, nothingChosen });
      return this.pages.page(reply, nothingChosen ? 400 : 200, page);
    }
    if (!(await this.consumeLogin(request, visitor, query)))
      return this.redirectToLogin(reply, request, visitor, query);
    if (decision === 'deny') {
      const denied = await this.responses.deny(request, user);
      addAuditEvent(raw, 'consent.denied');
      throw denied;
    }
    const login = this.sessions.loginOf(cookie, session, { query, isForced: isLoginForced(request) });
    const approval = { scope, continuesConsent: false, login, outcome: 'allowed' };
    await this.approve({ raw, headers }, reply, { request, user, query, ...approval });
  }

  private page(
    headers: FastifyRequest['headers'],
    form: Omit<ConsentForm, 'translator' | 'product' | 'apis' | 'avatarOrigins'> & {
      readonly request: ValidatedRequest;
      readonly user: User;
    },
  ): Page {
    const { uiLocales, resources } = form.request;
    const translator = this.language.translatorFor({
      headers,
      query: form.query,
      uiLocales,
      user: form.user,
    });
    const { PRODUCT_NAME: product } = this.configuration;
    const apis = this.hasSeveralApis && resources !== null ? resources.split(' ') : [];
    return consentPage({ ...form, translator, product, apis, avatarOrigins: this.avatarOrigins });
  }

  /** Deletes an invalid session: with it, the login page would redirect back here in a loop. */
  private async redirectToLogin(
    reply: FastifyReply,
    { user }: ValidatedRequest,
    { cookie, session }: Visitor,
    query: string,
  ): Promise<void> {
    if (session && !user) await this.sessions.end(cookie);
    this.pages.seeOther(reply, withQuery(ENDPOINTS.login, query));
  }

  /** OpenID Connect Core 3.1.2.1: with prompt=login an earlier login does not count, so each login counts once. */
  private async consumeLogin(
    { prompt }: ValidatedRequest,
    visitor: Visitor,
    query: string,
  ): Promise<boolean> {
    return !prompt.has('login') || this.sessions.consumeLogin(visitor, query);
  }

  /** Sends the code, or reloads this request if the consent has ended since. */
  private async approve(
    { raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>,
    reply: FastifyReply,
    {
      request,
      user,
      query,
      outcome,
      ...approval
    }: Approval & { request: ValidatedRequest; user: User; query: string; outcome: string },
  ): Promise<void> {
    try {
      const { answer, grantId } = await this.responses.approve(request, user, approval);
      addLogContext(raw, { user_id: user.id, grant_id: grantId, scope: approval.scope, outcome });
      addAuditEvent(raw, 'consent.allowed');
      const { uiLocales } = request;
      this.responses.send(reply, answer, { headers, query, uiLocales, user });
    } catch (error) {
      if (!(error instanceof ConsentEndedError)) throw error;
      this.pages.seeOther(reply, withQuery(ENDPOINTS.authorize, query));
    }
  }
}

/**
 * A client without consent gets the same error for every expected user: it could otherwise find out who is logged in.
 *
 * @throws RedirectableError if the request needs a page
 */
function refusePage(request: ValidatedRequest, isLoggedInForIt: boolean): void {
  const { page } = requiredInteraction({ ...request, isOtherUser: false }, isLoggedInForIt);
  if (page !== null) throw promptNoneError(page, request);
  if (request.isOtherUser) throw otherUserError(request);
}

/**
 * OpenID Connect Core 3.1.2.1: with prompt=none "an error is returned if an End-User is not already Authenticated or the Client
 * does not have pre-configured consent"; 3.1.2.6 names the errors.
 */
function promptNoneError(page: 'login' | 'consent', request: ValidatedRequest): RedirectableError {
  const [code, check, description] =
    page === 'login'
      ? ([
          'login_required',
          'login_impossible',
          'no user is logged in, and prompt=none does not allow a login page',
        ] as const)
      : ([
          'consent_required',
          'consent_impossible',
          'the user must give consent, and prompt=none does not allow a consent page',
        ] as const);
  const detail: ErrorDetail = { check, ...(request.user && { user_id: request.user.id }) };
  return new RedirectableError(new OAuthError(code, 400, description, { detail }), request, request.client);
}

/** OpenID Connect Core 3.1.2.2 and 5.5.1: "If the value does not match […], the Authorization Server MUST return an error". */
function otherUserError(request: ValidatedRequest): RedirectableError {
  const description = 'another user is logged in than the one that the request names';
  const error = new OAuthError('login_required', 400, description, {
    detail: { check: 'other_user_logged_in', ...(request.user && { user_id: request.user.id }) },
  });
  return new RedirectableError(error, request, request.client);
}

function isLoginForced({ maxAge, prompt }: ValidatedRequest): boolean {
  return maxAge !== null || prompt.has('login');
}

/** The consent form has no `client_id`: its request is in the URL. */
function isPostedRequest(fields: FormFields): boolean {
  return fields['client_id'] !== undefined;
}

/** `pushed_request` finds the log line of the push. */
function logFields({ client, pushedId }: ValidatedRequest): Record<string, string> {
  return { client_id: client.clientId, ...(pushedId !== null && { pushed_request: pushedId }) };
}
