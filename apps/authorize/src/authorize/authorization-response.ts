import { Injectable } from '@nestjs/common';
import type { OAuthError } from '#oauth/oauth-error.js';
import type { ReturnAddress } from '#oauth/authorization/authorization-request.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

/** Writes the addresses that answer an authorization request (RFC 6749 4.1.2, 4.1.2.1). */
@Injectable()
export class AuthorizationResponse {
  constructor(private readonly configuration: AuthorizeConfiguration) {}

  code(returnTo: ReturnAddress, code: string): string {
    return this.location(returnTo, [['code', code]]);
  }

  error(returnTo: ReturnAddress, { code, description }: Pick<OAuthError, 'code' | 'description'>): string {
    return this.location(returnTo, [
      ['error', code],
      ['error_description', description],
    ]);
  }

  /**
   * Appends to the redirect URI as text. URL classes would rewrite custom schemes and re-encode the query that the
   * client registered, which "MUST be retained" (RFC 6749 3.1.2). `iss` tells the client which server answers (RFC 9207 2).
   */
  private location(
    { redirectUri, state }: ReturnAddress,
    parameters: [name: string, value: string][],
  ): string {
    if (state !== null) parameters.push(['state', state]);
    parameters.push(['iss', this.configuration.BASE_URL]);
    const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    return redirectUri + separator(redirectUri) + query;
  }
}

function separator(redirectUri: string): string {
  if (!redirectUri.includes('?')) return '?';
  return /[?&]$/.test(redirectUri) ? '' : '&';
}
