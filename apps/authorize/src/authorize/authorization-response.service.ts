import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { User } from '#users/user.js';
import { type ReturnAddress, RedirectableError } from '#oauth/redirectable.error.js';
import { descriptionOf } from '#error-guide/error-description.js';
import { errorUri } from '#error-guide/error-guide.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { addQuery } from '../urls.js';
import {
  type AllowedConsent,
  type Approval,
  ConsentEndedError,
  ConsentService,
} from '../consent/consent.service.js';
import type { SentForm } from '../session/sent-form.js';
import { type LanguageContext, LanguageService } from '../ui/i18n/language.service.js';
import { UserPageResponder } from '../ui/user-page.responder.js';
import { formPostPage } from './form-post.page.js';
import type { ValidatedRequest } from '../validated-request.js';
import { PushedRequestService } from './pushed-request.service.js';

/** Response whose `parameters` do not include `state` and `iss`, which `send` adds. */
export interface AuthorizationResponse {
  readonly returnTo: ReturnAddress;
  readonly clientName: string;
  readonly parameters: readonly Parameter[];
}

type Parameter = readonly [name: string, value: string];

/** Builds and sends authorization responses (RFC 6749 4.1.2, 4.1.2.1). */
@Injectable()
export class AuthorizationResponseService {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly pushed: PushedRequestService,
    private readonly consent: ConsentService,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
  ) {}

  /** @throws ConsentEndedError if the consent has ended; OAuthError if a pushed request was answered or has expired */
  async approve(
    request: ValidatedRequest,
    user: User,
    approval: Approval,
    form: SentForm | null,
  ): Promise<{ response: AuthorizationResponse } & Omit<AllowedConsent, 'code'>> {
    const { code, ...rest } = await this.answerPushed(request, form, () =>
      this.consent.allow(request, user, approval),
    );
    const parameters = [['code', code]] as const;
    return { response: { returnTo: request, clientName: request.client.name, parameters }, ...rest };
  }

  /** @returns the error to throw; the error filter redirects it to the application */
  async deny(
    request: ValidatedRequest,
    { id }: User,
    scope: string,
    form: SentForm | null,
  ): Promise<RedirectableError> {
    await this.answerPushed(request, form, async () => {
      if (form) await this.consent.deny(request, form.handleOf(scope));
    });
    const denied = new OAuthError('access_denied', 400, 'consent_denied', { detail: { user_id: id } });
    return new RedirectableError(denied, request, request.client);
  }

  /** Reopens the pushed request if the step fails, so that the user can retry. */
  private async answerPushed<T>(
    request: ValidatedRequest,
    form: SentForm | null,
    step: () => Promise<T>,
  ): Promise<T> {
    await this.pushed.consume(request, form);
    try {
      return await step();
    } catch (error) {
      if (error instanceof ConsentEndedError && error.reason === 'redeemed')
        this.pushed.rejectAnswered(request);
      await this.pushed.reopen(request);
      throw error;
    }
  }

  /** Adds error_reference. RFC 6749 4.1.2: "The client MUST ignore unrecognized response parameters". */
  error(
    { code, reason, detail, returnTo, client }: RedirectableError,
    reference: string,
  ): AuthorizationResponse {
    return {
      returnTo,
      clientName: client.name,
      parameters: [
        ['error', code],
        ['error_description', descriptionOf(reason)],
        ['error_uri', errorUri(this.configuration.BASE_URL, detail.check, code)],
        ['error_reference', reference],
      ],
    };
  }

  /**
   * Sends the response as a redirect, or as a page that continues or has a form. Adds `state` and `iss` (RFC 9207 2).
   */
  send(
    reply: FastifyReply,
    { returnTo: { redirectUri, state, responseMode }, clientName, parameters }: AuthorizationResponse,
    reader: LanguageContext,
  ): void {
    const issuer: Parameter = ['iss', this.configuration.BASE_URL];
    const all = [...parameters, ...(state === null ? [] : [['state', state] as const]), issuer];
    if (responseMode !== 'form_post') {
      const answer = queryOf(all);
      const location = responseMode === 'query' ? addQuery(redirectUri, answer) : `${redirectUri}#${answer}`;
      return this.pages.redirect(reply, { location, application: clientName, reader });
    }
    const translator = this.language.translatorFor(reader);
    this.pages.page(reply, 200, formPostPage(translator, { redirectUri, clientName, parameters: all }));
  }
}

function queryOf(parameters: readonly Parameter[]): string {
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}
