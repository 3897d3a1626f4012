import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { postedQuery, rawQuery, withQuery } from '../urls.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { consentPage } from '../consent/consent.page.js';
import { FORM_FIELD, newFormNonce, SentForm } from '../session/sent-form.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { SessionService } from '../session/session.service.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { AuthorizationRequestService } from './authorization-request.service.js';
import { AuthorizationResponseService } from './authorization-response.service.js';
import { AuthorizationService, type NextStep, type Visit } from './authorization.service.js';
import { AUTHORIZE_OPERATION, DecideOperation } from './authorize.openapi.js';

/** The authorization endpoint (RFC 6749 3.1). */
@Controller(ENDPOINTS.authorize)
export class AuthorizeController {
  private readonly avatarOrigins: readonly string[];
  /** The consent page names APIs only if there are several. */
  private readonly hasSeveralApis: boolean;

  constructor(
    private readonly requests: AuthorizationRequestService,
    private readonly authorization: AuthorizationService,
    private readonly responses: AuthorizationResponseService,
    private readonly sessions: SessionService,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    this.avatarOrigins = configuration.avatarOrigins;
    this.hasSeveralApis = configuration.apis.length > 1;
  }

  @Get()
  @ApiOperation(AUTHORIZE_OPERATION)
  async authorize(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const visit = await this.open(request);
    this.send(request, reply, visit, await this.authorization.begin(visit));
  }

  /** Receives the consent form, or a posted authorization request (OpenID Connect Core 3.1.2.1). */
  @Post()
  @DecideOperation
  @ProtectForm('consent', isPostedRequest)
  async post(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    if (isPostedRequest(fields))
      return this.pages.seeOther(reply, withQuery(ENDPOINTS.authorize, postedQuery(fields)));
    const visit = await this.open(request, fields[FORM_FIELD]);
    this.send(request, reply, visit, await this.authorization.decide(visit, fields));
  }

  private async open({ url, method, headers, raw }: FastifyRequest, nonce?: unknown): Promise<Visit> {
    const query = rawQuery(url);
    const visitor = await this.sessions.findVisitor(headers.cookie);
    const isLink = method === 'GET';
    const sent = isLink
      ? SentForm.ofPushed(visitor.cookie, query)
      : SentForm.of(visitor.cookie, query, nonce);
    const request = await this.requests.validate(query, visitor.session, sent);
    const { client, pushedId } = request;
    const form = isLink && pushedId === null ? null : sent;
    // The log line of the push contains the same `pushed_request`.
    addLogContext(raw, {
      client_id: client.clientId,
      ...(pushedId !== null && { pushed_request: pushedId }),
    });
    return { request, visitor, query, form, raw };
  }

  private send({ headers }: FastifyRequest, reply: FastifyReply, visit: Visit, step: NextStep): void {
    const { query, request } = visit;
    const { uiLocales } = request;
    switch (step.kind) {
      case 'redirect':
        return this.pages.seeOther(reply, step.location);
      case 'consent':
        return this.sendConsentPage(headers, reply, visit, step);
      case 'response':
        return this.responses.send(reply, step.response, { headers, query, uiLocales, user: step.user });
    }
  }

  private sendConsentPage(
    headers: FastifyRequest['headers'],
    reply: FastifyReply,
    { request, query }: Visit,
    { user, cookie, nothingChosen, cleared }: NextStep & { kind: 'consent' },
  ): void {
    const { uiLocales, resources } = request;
    const page = consentPage({
      translator: this.language.translatorFor({ headers, query, uiLocales, user }),
      request,
      user,
      cookie,
      nonce: newFormNonce(),
      query,
      product: this.configuration.PRODUCT_NAME,
      apis: this.hasSeveralApis && resources !== null ? resources.split(' ') : [],
      avatarOrigins: this.avatarOrigins,
      nothingChosen,
      cleared,
    });
    this.pages.page(reply, nothingChosen ? 400 : 200, page);
  }
}

/** Only a posted authorization request has a `client_id` field. The URL of the consent form contains the request. */
function isPostedRequest(fields: FormFields): boolean {
  return fields['client_id'] !== undefined;
}
