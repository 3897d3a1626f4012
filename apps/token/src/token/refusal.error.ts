import type { UnconfirmedRequestError } from '#grants/given-up.js';
import type { Refusal, RefusalReason } from '#grants/grant.js';
import type { OAuthErrorCode } from '#oauth/error-code.js';
import { OAuthError } from '#oauth/oauth-error.js';

export type Credential = 'code' | 'device code' | 'refresh token';

/** Public descriptions, which reveal no secret. `$credential` is the kind of credential, and `$sent` the sent value. */
const DESCRIPTIONS: Readonly<Record<RefusalReason, string>> = {
  unrecognized: 'this is not a code or token of this service',
  wrong_kind: 'this is a token of another kind: send a $credential',
  expired: 'the $credential has expired; ask the user to authorize again',
  unknown: 'the $credential is no longer valid; ask the user to authorize again',
  issued_before_failover: 'a server failed after the $credential was issued; ask the user to authorize again',
  revoked: 'the $credential has been revoked; ask the user to authorize again',
  other_client: 'the $credential was issued to another client',
  key_mismatch:
    'the $credential is bound to a key that the request did not prove: send a DPoP proof by that key, or ask the user to authorize again',
  key_unexpected:
    'the $credential is not bound to a key: send it without a DPoP proof, or ask the user to authorize again and prove the key when you redeem the code',
  scope_not_granted: 'the user granted none of the requested scopes: $sent',
  resource_exceeded: "the parameter 'resource' names an API that the authorization request did not name",
  redirect_uri_mismatch: "the parameter 'redirect_uri' differs from the one in the authorization request",
  decision_pending: 'the user has not decided yet: poll again after the interval',
  polled_too_early: 'the device polls too often: from now on, wait 5 seconds longer between two polls',
  decision_denied: 'the user has denied the request',
  verifier_missing:
    "the authorization request had a code_challenge: the parameter 'code_verifier' is missing",
  verifier_unexpected:
    "the authorization request had no code_challenge: the parameter 'code_verifier' must not be sent",
  verifier_mismatch: "the parameter 'code_verifier' does not match the code_challenge; the code is now void",
  code_replayed: 'the $credential was used before; every token issued for it is now revoked',
  refresh_token_reused:
    'the refresh token was used before; every token of its grant is now revoked, ask the user to authorize again',
};

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
  const description = `the service failed, and the ${credential} may have been used: ask the user to authorize again`;
  return new OAuthError('temporarily_unavailable', 503, description, {
    detail: { check: 'request_unconfirmed' },
    cause,
  });
}

/** Returns the response to a code or token that the grant engine refused. */
export function refusalError(
  { outcome, grantId, expiredAt, usedBy: _usedBy, ...compared }: Refusal,
  credential: Credential,
): OAuthError {
  const values = { ...compared, ...(expiredAt !== undefined && { expired_at: expiredAt }) };
  const options = { detail: { check: outcome, grant_id: grantId, ...values } };
  const description = DESCRIPTIONS[outcome]
    .replace('$credential', credential)
    .replace('$sent', () => compared.sent ?? '');
  const isExpired = outcome === 'expired' && credential === 'device code';
  return new OAuthError(
    isExpired ? 'expired_token' : (CODES[outcome] ?? 'invalid_grant'),
    400,
    description,
    options,
  );
}
