import type { Check, CheckOf, OAuthErrorCode, Reason } from './reasons.js';

/** Failed check (its name in the error guide) and the compared values, for the operator. Never contains credentials. */
export interface ErrorDetail {
  readonly check?: Check;
  readonly [value: string]: unknown;
}

/** Values that a failed check compared, for the operator's log. */
export type ComparedValues = Readonly<Record<string, string>>;

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

/**
 * Error of an OAuth endpoint. The client gets the description of the reason and a reference; the log contains the
 * detail.
 */
export class OAuthError extends Error {
  readonly detail: ErrorDetail;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: OAuthErrorCode,
    readonly status: number,
    readonly reason: Reason,
    { detail, headers = {}, cause }: OAuthErrorOptions = {},
  ) {
    super(`${code}: ${idOf(reason)}`, { cause });
    this.name = 'OAuthError';
    const check: string = checkOf(reason);
    this.detail = check === code ? { ...detail } : { check: check as Check, ...detail };
    this.headers = headers;
  }

  static invalidRequest(reason: Reason, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_request', 400, reason, options);
  }

  /** RFC 6749 5.2: if the client used HTTP Basic, the caller must add WWW-Authenticate. */
  static invalidClient(reason: Reason, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_client', 401, reason, options);
  }

  static invalidScope(reason: Reason, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_scope', 400, reason, options);
  }

  static invalidTarget(reason: Reason, options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('invalid_target', 400, reason, options);
  }

  static unavailable(reason: Reason = 'temporarily_unavailable', options?: OAuthErrorOptions): OAuthError {
    return new OAuthError('temporarily_unavailable', 503, reason, {
      ...options,
      headers: { 'Retry-After': '1', ...options?.headers },
    });
  }

  static tooManyRequests(
    reason: Extract<Reason, { readonly retryAfter: number }>,
    detail: ErrorDetail = {},
  ): OAuthError {
    return new OAuthError('temporarily_unavailable', 429, reason, {
      detail,
      headers: { 'Retry-After': String(reason.retryAfter) },
    });
  }

  /** Derives a missing description from the status, because a framework's message may quote the request. */
  static fromFailure({ status, description, headers, detail, cause }: Failure): OAuthError {
    const options = { headers, detail: detail as ErrorDetail, cause };
    if (status === 503) return OAuthError.unavailable('temporarily_unavailable', options);
    if (status >= 500) return new OAuthError('server_error', 500, 'server_error', options);
    if (description !== undefined)
      return status === 405
        ? new OAuthError('method_not_allowed', 405, { id: 'method_not_allowed', description }, options)
        : new OAuthError('invalid_request', status, { id: 'invalid_request.refused', description }, options);
    switch (status) {
      case 404:
        return new OAuthError('not_found', 404, 'not_found', options);
      case 413:
        return new OAuthError('invalid_request', 413, 'body_too_large', { headers, cause });
      case 415:
        return new OAuthError('invalid_request', 415, 'content_type_unsupported', { headers, cause });
      default:
        return OAuthError.invalidRequest('invalid_request', options);
    }
  }
}

/** Returns the name of the failed check; for a reason that is not a check, the error code. */
export function checkOf<Ids extends object>(reason: Reason<Ids>): CheckOf<Ids> {
  return String(idOf(reason)).split('.', 1)[0] as CheckOf<Ids>;
}

export function idOf<Id extends PropertyKey>(reason: Id | { readonly id: Id }): Id {
  return typeof reason === 'object' ? reason.id : reason;
}
