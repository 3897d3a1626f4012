import { InvalidKeyError, type PublicKey, readPublicJwk, type SignatureAlgorithm } from '../jwk.js';
import { InvalidProofError } from './invalid-proof.error.js';

/** Without RS256: FAPI 2.0 5.4.1 forbids it, and an API does not know whether a client follows that profile. */
export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'Ed25519', 'EdDSA', 'PS256'] as const;

export function isDpopAlgorithm(alg: unknown): alg is SignatureAlgorithm {
  return DPOP_ALGORITHMS.some((supported) => supported === alg);
}

/** Reads the `jwk` of a proof, for its `alg` (RFC 9449 4.3, 7: no private key). @throws InvalidProofError */
export function readProofKey(jwk: unknown, alg: SignatureAlgorithm): PublicKey {
  if (jwk === undefined)
    throw new InvalidProofError('dpop_jwk_invalid', 'its header must have the public key as jwk');
  try {
    return readPublicJwk(jwk, alg);
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    throw new InvalidProofError('dpop_jwk_invalid', `its jwk ${error.message}`);
  }
}
