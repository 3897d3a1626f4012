import { InvalidKeyError, type PublicKey, readPublicJwk, type SignatureAlgorithm } from '../jwk.js';
import { InvalidProofError } from './invalid-proof.error.js';

/**
 * Excludes RS256, which section 5.4.1 of FAPI 2.0 forbids, because an API cannot distinguish the clients that follow
 * FAPI 2.0.
 */
export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'Ed25519', 'EdDSA', 'PS256'] as const;

export function isDpopAlgorithm(alg: unknown): alg is SignatureAlgorithm {
  return DPOP_ALGORITHMS.some((supported) => supported === alg);
}

/** Reads the `jwk` of a proof for its `alg`, and rejects a private key (RFC 9449 4.3, 7). @throws InvalidProofError */
export function readProofKey(jwk: unknown, alg: SignatureAlgorithm): PublicKey {
  if (jwk === undefined) throw new InvalidProofError('dpop_jwk_invalid.missing');
  try {
    return readPublicJwk(jwk, alg);
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    throw new InvalidProofError({ id: 'dpop_jwk_invalid', problem: error.problem });
  }
}
