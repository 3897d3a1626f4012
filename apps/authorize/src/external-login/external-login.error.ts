import type { CheckOf, OAuthErrorCode, PageReasons, Reason } from '#oauth/reasons.js';
import { checkOf, OAuthError, type OAuthErrorOptions } from '#oauth/oauth-error.js';
import { failedRequest } from '#platform/http/failed-request.js';

type LoginReasons = Pick<PageReasons, Extract<keyof PageReasons, `login_${string}`>>;
type LoginCheck = CheckOf<LoginReasons>;
export type LoginReason = Reason<LoginReasons>;

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
    reason: LoginReason,
    /** Query of the login page for a new attempt; empty if unknown. */
    readonly query: string,
    options: OAuthErrorOptions = {},
  ) {
    const [code, status] = STATUS[checkOf(reason) as LoginCheck];
    const headers = status === 503 ? { 'Retry-After': '5' } : {};
    super(code, status, reason, { headers, ...options });
    this.name = 'ExternalLoginError';
  }
}

/** Failed check of what the login provider sent. Has no cause, because errors of jose contain the claims. */
export class FailedCheckError extends Error {
  /** @param failed name of the claim or parameter */
  constructor(
    readonly failed: string,
    message = `a check failed: ${failed}`,
  ) {
    super(message);
    this.name = 'FailedCheckError';
  }
}

/** @param failed name of the claim or parameter that a check refused */
export function invalidResponse(problem: string, failed: string, query: string): ExternalLoginError {
  return new ExternalLoginError({ id: 'login_response_invalid', problem }, query, { detail: { failed } });
}

/** Wraps a failed check or an outage, so that the error page can restart the login. Returns other errors unchanged. */
export function duringLogin(error: unknown, query: string): unknown {
  if (error instanceof ExternalLoginError) return error;
  if (error instanceof FailedCheckError) return invalidResponse(error.message, error.failed, query);
  const { status, detail } =
    error instanceof OAuthError ? error : OAuthError.fromFailure(failedRequest(error));
  if (status !== 503) return error;
  return new ExternalLoginError('login_unavailable.service', query, { detail, cause: error });
}
