import type { Refusal, RefusalReason } from '#grants/grant.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** What each refusal of the grant engine tells the client: what is wrong, never what is secret. $what was presented. */
const DESCRIPTIONS: Readonly<Record<RefusalReason, string>> = {
  not_ours: 'this is not a code or token of this service',
  wrong_kind: 'this is a token of another kind than is due here',
  expired: 'the $what has expired; ask the user to authorize again',
  unknown: 'the $what is not valid any more; ask the user to authorize again',
  issued_before_failover: 'a server failed after the $what was issued; ask the user to authorize again',
  revoked: 'the $what has been revoked; ask the user to authorize again',
  other_client: 'the $what was issued to another client',
  key_mismatch:
    'the $what is bound to a key that the request did not prove: send a DPoP proof by that key, or ask the user to authorize again',
  key_unexpected:
    'the $what is not bound to a key: send it without a DPoP proof, or ask the user to authorize again and prove the key when you redeem the code',
  scope_exceeds: "the parameter 'scope' asks for more than the user granted",
  redirect_uri_mismatch: "the parameter 'redirect_uri' is not the one of the authorization request",
  verifier_missing:
    "the authorization request had a code_challenge: the parameter 'code_verifier' is missing",
  verifier_unexpected:
    "the authorization request had no code_challenge: the parameter 'code_verifier' must not be sent",
  verifier_mismatch: "the parameter 'code_verifier' does not match the code_challenge; the code is void now",
  code_replayed: 'the code was used before; every token that came of it is revoked now',
  refresh_token_reused:
    'the refresh token was used before; every token of its grant is revoked now, ask the user to authorize again',
};

/** RFC 6749 5.2: what is wrong with a grant is invalid_grant; a scope that it does not give is invalid_scope (6). */
export function refusalError(
  { outcome, grantId, detail }: Refusal,
  what: 'code' | 'refresh token',
): OAuthError {
  const options = { detail: { check: outcome, grant_id: grantId, ...(detail && { found: detail }) } };
  const description = DESCRIPTIONS[outcome].replace('$what', what);
  return outcome === 'scope_exceeds'
    ? OAuthError.invalidScope(description, options)
    : OAuthError.invalidGrant(description, options);
}
