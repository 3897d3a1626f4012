/** Error codes from RFC 6749 4.1.2.1 and 5.2, RFC 8707 2, RFC 9449 5 and 8, and OpenID Connect Core 3.1.2.6, and the HTTP errors of this service. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'temporarily_unavailable'
  | 'server_error'
  | 'not_found'
  | 'method_not_allowed';

export interface OAuthErrorOptions {
  /** For the operator's log only: the failed check and its values, never a credential. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** Answer headers, for example WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The one error of the protocol. The description goes to the client and says what to do; the detail stays in the
 * log under the same reference.
 */
export class OAuthError extends Error {
  readonly detail: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: OAuthErrorCode,
    readonly status: number,
    readonly description: string,
    { detail = {}, headers = {}, cause }: OAuthErrorOptions = {},
  ) {
    super(`${code}: ${description}`, { cause });
    this.name = 'OAuthError';
    this.detail = detail;
    this.headers = headers;
  }

  /** A parameter is missing, repeated or malformed (RFC 6749 5.2). */
  static invalidRequest(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_request', 400, description, options);
  }

  /** Client authentication failed (RFC 6749 5.2); 401, with WWW-Authenticate where the client used that header. */
  static invalidClient(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_client', 401, description, options);
  }

  /** The code or refresh token is not good (any more), or not for this client (RFC 6749 5.2). */
  static invalidGrant(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_grant', 400, description, options);
  }

  /** The scope is unknown, malformed or more than was granted (RFC 6749 5.2). */
  static invalidScope(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_scope', 400, description, options);
  }

  static unsupportedGrantType(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('unsupported_grant_type', 400, description, options);
  }

  /** A dependency did not answer; the request may be repeated. */
  static unavailable(options?: OAuthErrorOptions): OAuthError {
    const description = 'the service cannot answer just now, repeat the request in a moment';
    return new OAuthError('temporarily_unavailable', 503, description, {
      ...options,
      headers: { 'Retry-After': '1', ...options?.headers },
    });
  }

  static serverError(options?: OAuthErrorOptions): OAuthError {
    return new OAuthError(
      'server_error',
      500,
      'the service failed on this request; pass on the error_reference',
      options,
    );
  }
}
