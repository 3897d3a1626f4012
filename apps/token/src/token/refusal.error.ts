import type { UnconfirmedRequestError } from '#grants/given-up.js';
import type { Refusal, RefusalReason } from '#grants/grant.js';
import type { OAuthErrorCode } from '#oauth/error-code.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Credential } from '#oauth/reasons.js';

/** OAuth error codes. The code of every other reason is invalid_grant, except for an expired device code. */
const CODES: Readonly<Partial<Record<RefusalReason, OAuthErrorCode>>> = {
  // RFC 6749 6: a refresh cannot get a scope that was not granted.
  scope_not_granted: 'invalid_scope',
  // RFC 8707 2: the API is "invalid, missing, unknown, or malformed".
  resource_exceeded: 'invalid_target',
  // RFC 8628 3.5: after the first two codes a device continues to poll.
  decision_pending: 'authorization_pending',
  polled_too_early: 'slow_down',
  decision_denied: 'access_denied',
};

/**
 * Returns the response to a request whose outcome no process can find out. It has no `Retry-After`, because a repeated
 * request may count as a replay and revoke the tokens.
 */
export function unconfirmedError(cause: UnconfirmedRequestError, credential: Credential): OAuthError {
  return new OAuthError('temporarily_unavailable', 503, { id: 'request_unconfirmed', credential }, { cause });
}

/** Returns the response to a code or token that the grant engine refused. */
export function refusalError(
  { outcome, grantId, expiredAt, usedBy: _usedBy, ...compared }: Refusal,
  credential: Credential,
): OAuthError {
  const values = { ...compared, ...(expiredAt !== undefined && { expired_at: expiredAt }) };
  const isExpired = outcome === 'expired' && credential === 'device code';
  return new OAuthError(
    isExpired ? 'expired_token' : (CODES[outcome] ?? 'invalid_grant'),
    400,
    { id: outcome, credential, sent: compared.sent ?? '' },
    { detail: { grant_id: grantId, ...values } },
  );
}
