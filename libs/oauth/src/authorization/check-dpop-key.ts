import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/** SHA-256 in base64url (RFC 7638 3): 43 characters, of which the last carries four bits. */
const THUMBPRINT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * RFC 9449 10: "When a token request is received, the authorization server computes the JWK Thumbprint of the proof
 * of possession public key in the DPoP proof and verifies that it matches the dpop_jkt parameter value in the
 * authorization request." What could never match is refused here, before a user is asked.
 *
 * @returns the thumbprint; null when the request names none
 */
export function checkDpopKey(parameters: RequestParameters): string | null {
  const jkt = parameters.get('dpop_jkt', LIMITS.dpop_jkt);
  if (jkt === undefined) return null;
  if (THUMBPRINT.test(jkt)) return jkt;
  throw OAuthError.invalidRequest(
    "the parameter 'dpop_jkt' is not a SHA-256 JWK thumbprint: base64url of 32 bytes without padding",
    { detail: { check: 'dpop_jkt' } },
  );
}
