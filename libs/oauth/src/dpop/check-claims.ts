import { createHash } from 'node:crypto';
import type { DpopProof } from './dpop-proof.js';
import { InvalidProofError } from './invalid-proof.error.js';
import { targetUri } from './target-uri.js';

/** The request that a proof must have been made for. */
export interface ProofTarget {
  readonly method: string;
  /** Its public URI, by `publicUri`. */
  readonly uri: string;
  /** The access token it came with; absent where there is none to come with. */
  readonly accessToken?: string;
}

/** When a proof is taken; milliseconds. */
export interface ProofWindow {
  readonly now: number;
  readonly lifetime: number;
  readonly clockSkew: number;
}

const MAX_JTI = 256;
const MAX_NONCE = 256;

/** RFC 9449 4.3, the checks of claims, in the RFC's order. The claims are signed by now. @throws InvalidProofError */
export function checkClaims(
  claims: Readonly<Record<string, unknown>>,
  { method, uri, accessToken }: ProofTarget,
  { now, lifetime, clockSkew }: ProofWindow,
): Omit<DpopProof, 'jkt'> {
  // 3: "All required claims per Section 4.2 are contained in the JWT."
  const { jti, htm, htu, iat, ath, nonce = null } = claims;
  if (typeof jti !== 'string' || jti === '') throw new InvalidProofError('jti', 'the claim jti is missing');
  if (jti.length > MAX_JTI)
    throw new InvalidProofError('jti', `the claim jti is longer than ${MAX_JTI} characters`);
  if (typeof htm !== 'string' || typeof htu !== 'string' || typeof iat !== 'number')
    throw new InvalidProofError('claims', 'the claims htm, htu and iat are needed');
  // 8: "The htm claim matches the HTTP method of the current request."
  if (htm !== method) throw new InvalidProofError('htm', 'the claim htm is not the method of this request');
  // 9: "The htu claim matches the HTTP URI value for the HTTP request in which the JWT was received, ignoring any
  // query and fragment parts."
  const target = targetUri(htu);
  if (target === null || target !== targetUri(uri))
    throw new InvalidProofError('htu', 'the claim htu is not the address of this request');
  // 10, "If the server provided a nonce value to the client, the nonce claim matches", is for who gives nonces.
  if (nonce !== null && (typeof nonce !== 'string' || nonce.length > MAX_NONCE))
    throw new InvalidProofError('nonce', 'the claim nonce is not one of this server');
  // 11: "The creation time of the JWT, as determined by either the iat claim or a server managed timestamp via the
  // nonce claim, is within an acceptable window."
  const expiresAt = iat * 1000 + lifetime;
  if (expiresAt < now)
    throw new InvalidProofError('iat', `the proof is older than ${lifetime / 1000} seconds`);
  if (iat * 1000 > now + clockSkew)
    throw new InvalidProofError('iat', 'the claim iat is in the future: set the clock');
  // 12: "If presented to a protected resource in conjunction with an access token, ensure that the value of the ath
  // claim equals the hash of that access token."
  if (accessToken !== undefined && ath !== createHash('sha256').update(accessToken).digest('base64url'))
    throw new InvalidProofError('ath', 'the claim ath is not the SHA-256 of the access token');
  return { jti, nonce, expiresAt };
}
