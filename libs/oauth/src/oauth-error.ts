import { HttpException } from '@nestjs/common';
import type { OAuthErrorCode } from './error-code.js';
import type { Check } from './error-guide/error-guide.js';

/** Failed check (its name in the error guide) and the compared values, for the operator. Never contains credentials. */
export interface ErrorDetail {
  readonly check?: Check;
  readonly [value: string]: unknown;
}

export interface OAuthErrorOptions {
  /** For the operator's log only. */
  readonly detail?: ErrorDetail;
  readonly cause?: unknown;
  /** Response headers, for example WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The only error of the OAuth endpoints. The description tells the client what to do; the detail stays in the log under the
 * same reference.
 */
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

  /** 401, with WWW-Authenticate if the client used that header (RFC 6749 5.2). */
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

  /** The client may retry the request. */
  static unavailable(options?: OAuthErrorOptions): OAuthError {
    const description = 'the service is temporarily unavailable: repeat the request in a moment';
    return new OAuthError('temporarily_unavailable', 503, description, {
      ...options,
      headers: { 'Retry-After': '1', ...options?.headers },
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

  /**
   * Converts any error. Replaces the framework's descriptions, because they may quote the request. An unavailable dependency
   * becomes 503, anything unknown 500.
   */
  static from(thrown: unknown): OAuthError {
    if (thrown instanceof OAuthError) return thrown;
    if (isRefusedRequest(thrown)) return refused(thrown);
    const cause = thrown;
    const status = httpStatusOf(thrown);
    switch (status) {
      case 404:
        return new OAuthError('not_found', 404, 'there is nothing at this path', { cause });
      case 413:
        return new OAuthError('invalid_request', 413, 'the body is larger than 64 KiB', {
          detail: { check: 'body_too_large' },
          cause,
        });
      case 415: {
        const description = 'send application/x-www-form-urlencoded or application/json';
        return new OAuthError('invalid_request', 415, description, {
          detail: { check: 'content_type_unsupported' },
          cause,
        });
      }
      default:
        if (status !== undefined && status < 500)
          return OAuthError.invalidRequest('the request is malformed', { cause });
    }
    const dependency = unavailableDependency(thrown);
    return dependency === undefined
      ? OAuthError.serverError({ cause })
      : OAuthError.unavailable({ cause, detail: { dependency } });
  }
}

/** A request rejected by the platform, such as a body with a content coding. Its description is safe for the client. */
interface RefusedRequest extends Error {
  readonly status: number;
  readonly description: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: ErrorDetail;
}

function isRefusedRequest(thrown: unknown): thrown is RefusedRequest {
  return thrown instanceof Error && thrown.name === 'RefusedRequestError';
}

function refused(error: RefusedRequest): OAuthError {
  const { status, description, headers, detail, cause } = error;
  const options = { headers, detail, cause };
  if (status === 503) return OAuthError.unavailable(options);
  return new OAuthError(
    status === 405 ? 'method_not_allowed' : 'invalid_request',
    status,
    description,
    options,
  );
}

/** Status of an error of Nest or Fastify (bad content length, body too large, …). */
function httpStatusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number'
    ? thrown.statusCode
    : undefined;
}

// SQLSTATE: 08 connection exception, 53 insufficient resources, 57P0x shutting down or starting, 57014 statement timeout, 25006
// read-only server; codes of the operating system.
const UNAVAILABLE_CODES =
  /^(08\w{3}|53\w{3}|57P0\d|57014|25006|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EPIPE)$/;
// The PostgreSQL driver throws these without a code.
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/i;

/** Returns the unavailable dependency: named by the error, or PostgreSQL for its driver's connection errors. */
function unavailableDependency(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ('dependency' in thrown && typeof thrown.dependency === 'string') return thrown.dependency;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  return UNAVAILABLE_CODES.test(code) || UNAVAILABLE_MESSAGES.test(thrown.message) ? 'postgres' : undefined;
}
