import {
  InvalidKeyError,
  type PublicKey,
  readPublicJwk,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
} from '../jwk.js';
import { InvalidProofError } from './invalid-proof.error.js';

/** Published in the metadata as `dpop_signing_alg_values_supported`. */
export const DPOP_ALGORITHMS = SIGNATURE_ALGORITHMS;

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
