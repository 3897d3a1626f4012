import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { isSessionId, isSubject } from '../configuration/profile-claims.js';

/** Event type of a logout token (section 2.4 of OpenID Connect Back-Channel Logout 1.0). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Claims of a valid logout token, which contains a `sid`, a `sub`, or both. */
export interface Logout {
  readonly jti: string;
  readonly sid: string | null;
  readonly sub: string | null;
}

export class InvalidLogoutTokenError extends Error {
  constructor(readonly failed: string) {
    super(`the logout token is not valid: ${failed}`);
    this.name = 'InvalidLogoutTokenError';
  }
}

/**
 * Performs steps 5 to 7 of section 2.6 of Back-Channel Logout 1.0. jose has already checked the signature, `iss`,
 * `aud`, `exp` and `iat`.
 * @throws InvalidLogoutTokenError
 */
export function checkLogoutToken(header: JWTHeaderParameters, claims: JWTPayload): Logout {
  const { sub, sid, jti, events, nonce } = claims as Readonly<Record<string, unknown>>;
  // Section 2.4 recommends the type logout+jwt. Any other explicit type is another kind of token (RFC 8725 3.11).
  if (header.typ !== undefined && !/^(application\/)?(logout\+jwt|jwt)$/i.test(header.typ))
    throw invalid('typ');
  if (sub !== undefined && !isSubject(sub)) throw invalid('sub');
  if (sid !== undefined && !isSessionId(sid)) throw invalid('sid');
  // Step 5: "Verify that the Logout Token contains a sub Claim, a sid Claim, or both."
  if (sub === undefined && sid === undefined) throw invalid('sub');
  // Step 6: "Verify that the Logout Token contains an events Claim". Its LOGOUT_EVENT member must be a JSON object.
  if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) throw invalid('events');
  // Step 7: "Verify that the Logout Token does not contain a nonce Claim". The ID tokens of logins do.
  if (nonce !== undefined) throw invalid('nonce');
  if (typeof jti !== 'string' || jti === '' || jti.length > 255) throw invalid('jti');
  return { jti, sid: sid ?? null, sub: sub ?? null };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(failed: string): InvalidLogoutTokenError {
  return new InvalidLogoutTokenError(failed);
}
