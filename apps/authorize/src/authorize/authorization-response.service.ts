import { Injectable } from '@nestjs/common';
import type { User } from '#database/user/user.js';
import { type ReturnAddress, RedirectableError } from '#oauth/authorization-request.js';
import { errorUri } from '#oauth/error-guide/error-guide.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { addQuery } from '../urls.js';
import { type Approval, ConsentService } from '../consent/consent.service.js';
import type { ValidatedRequest } from './validated-request.js';
import { PushedRequestService } from './pushed-request.service.js';

/** Builds authorization responses (RFC 6749 4.1.2, 4.1.2.1). */
@Injectable()
export class AuthorizationResponse {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly pushed: PushedRequestService,
    private readonly consent: ConsentService,
  ) {}

  /** @throws ConsentEndedError if the consent has ended since the request was validated */
  async approve(
    request: ValidatedRequest,
    user: User,
    approval: Approval,
  ): Promise<{ location: string; grantId: string }> {
    await this.pushed.consume(request);
    try {
      const { code, grantId } = await this.consent.allow(request, user, approval);
      return { location: this.location(request, [['code', code]]), grantId };
    } catch (error) {
      await this.pushed.reopen(request);
      throw error;
    }
  }

  /** @returns the error to throw, which redirects to the application */
  async deny(request: ValidatedRequest, { id }: User): Promise<RedirectableError> {
    await this.pushed.consume(request);
    const denied = new OAuthError('access_denied', 400, 'the user denied the request', {
      detail: { check: 'consent_denied', user_id: id },
    });
    return new RedirectableError(denied, request, request.client.clientId);
  }

  /** RFC 6749 4.1.2: "The client MUST ignore unrecognized response parameters", such as error_reference. */
  error(
    returnTo: ReturnAddress,
    { code, description, detail }: Pick<OAuthError, 'code' | 'description' | 'detail'>,
    reference: string,
  ): string {
    return this.location(returnTo, [
      ['error', code],
      ['error_description', description],
      ['error_uri', errorUri(this.configuration.BASE_URL, detail.check, code)],
      ['error_reference', reference],
    ]);
  }

  /**
   * `iss` is from RFC 9207 2.
   */
  private location(
    { redirectUri, state }: ReturnAddress,
    parameters: [name: string, value: string][],
  ): string {
    if (state !== null) parameters.push(['state', state]);
    parameters.push(['iss', this.configuration.BASE_URL]);
    const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    return addQuery(redirectUri, query);
  }
}
