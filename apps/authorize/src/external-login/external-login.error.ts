import type { OAuthErrorCode } from '#oauth/error-code.js';
import { OAuthError, type OAuthErrorOptions } from '#oauth/oauth-error.js';
import { failedRequest } from '#platform/http/failed-request.js';

export type LoginCheck =
  | 'login_transaction_invalid'
  | 'login_cancelled'
  | 'login_response_invalid'
  | 'login_user_disabled'
  | 'login_unavailable'
  | 'login_starts_exceeded';

const STATUS: Readonly<Record<LoginCheck, readonly [code: OAuthErrorCode, status: number]>> = {
  login_transaction_invalid: ['invalid_request', 400],
  login_cancelled: ['access_denied', 403],
  login_response_invalid: ['access_denied', 403],
  login_user_disabled: ['access_denied', 403],
  login_unavailable: ['temporarily_unavailable', 503],
  login_starts_exceeded: ['temporarily_unavailable', 429],
};

/** Failed external login. The error page offers to restart the login, unless the user is disabled. */
export class ExternalLoginError extends OAuthError {
  constructor(
    check: LoginCheck,
    description: string,
    /** Query of the login page for a new attempt; empty if unknown. */
    readonly query: string,
    { detail, ...options }: OAuthErrorOptions = {},
  ) {
    const [code, status] = STATUS[check];
    const headers = status === 503 ? { 'Retry-After': '5' } : {};
    super(code, status, description, { headers, ...options, detail: { check, ...detail } });
    this.name = 'ExternalLoginError';
  }
}

/** Wraps the error of an outage, so that the error page can restart the login. Returns other errors unchanged. */
export function duringLogin(error: unknown, query: string): unknown {
  if (error instanceof ExternalLoginError) return error;
  const { status, description, detail } =
    error instanceof OAuthError ? error : OAuthError.fromFailure(failedRequest(error));
  if (status !== 503) return error;
  return new ExternalLoginError('login_unavailable', description, query, { detail, cause: error });
}
