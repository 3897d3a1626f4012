import type { OAuthErrorCode } from './error-code.js';
import type { Check } from './error-guide/error-guide.js';

/** Failed check (its name in the error guide) and the compared values, for the operator. Never contains credentials. */
export interface ErrorDetail {
  readonly check?: Check;
  readonly [value: string]: unknown;
}

export interface OAuthErrorOptions {
  /** Logged for the operator, never sent. */
  readonly detail?: ErrorDetail;
  readonly cause?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Failure {
  readonly status: number;
  /** Sent to the client; absent if the failure has no text that is safe to send. */
  readonly description?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Error of an OAuth endpoint. The client gets the description and a reference; the log contains the detail. */
export class OAuthError extends Error {
  readonly detail: ErrorDetail;
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

  static invalidRequest(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_request', 400, description, options);
  }

  /** RFC 6749 5.2: if the client used HTTP Basic, the caller must add WWW-Authenticate. */
  static invalidClient(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_client', 401, description, options);
  }

  static invalidGrant(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_grant', 400, description, options);
  }

  static invalidScope(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_scope', 400, description, options);
  }

  static invalidTarget(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_target', 400, description, options);
  }

  static unsupportedGrantType(description: string, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('unsupported_grant_type', 400, description, options);
  }

  static unavailable(options?: OAuthErrorOptions): OAuthError {
    const description = 'the service is temporarily unavailable: repeat the request in a moment';
    return new OAuthError('temporarily_unavailable', 503, description, {
      ...options,
      headers: { 'Retry-After': '1', ...options?.headers },
    });
  }

  /** @param retryAfter seconds */
  static tooManyRequests(description: string, retryAfter: number, detail: ErrorDetail): OAuthError {
    return new OAuthError('temporarily_unavailable', 429, `${description}; retry in ${retryAfter} s`, {
      detail,
      headers: { 'Retry-After': String(retryAfter) },
    });
  }

  static serverError(options?: OAuthErrorOptions): OAuthError {
    return new OAuthError(
      'server_error',
      500,
      'the service failed on this request: report the error_reference to its operator',
      options,
    );
  }

  /** Derives a missing description from the status, because a framework's message may quote the request. */
  static fromFailure({ status, description, headers, detail, cause }: Failure): OAuthError {
    const options = { headers, detail: detail as ErrorDetail, cause };
    if (status === 503) return OAuthError.unavailable(options);
    if (status >= 500) return OAuthError.serverError(options);
    if (description !== undefined)
      return new OAuthError(
        status === 405 ? 'method_not_allowed' : 'invalid_request',
        status,
        description,
        options,
      );
    switch (status) {
      case 404:
        return new OAuthError('not_found', 404, 'there is nothing at this path', options);
      case 413:
        return new OAuthError('invalid_request', 413, 'the body is larger than 64 KiB', {
          ...options,
          detail: { check: 'body_too_large' },
        });
      case 415:
        return new OAuthError(
          'invalid_request',
          415,
          'send application/x-www-form-urlencoded or application/json',
          { ...options, detail: { check: 'content_type_unsupported' } },
        );
      default:
        return OAuthError.invalidRequest('the request is malformed', options);
    }
  }
}
