import { calculateJwkThumbprint, compactVerify, importJWK } from 'jose';
import { checkClaims, type ProofTarget } from './check-claims.js';
import type { DpopProof } from './dpop-proof.js';
import { InvalidProofError } from './invalid-proof.error.js';
import { readProof, type UnverifiedProof } from './read-proof.js';

export interface DpopVerifierOptions {
  /** For how long after its `iat` a proof is taken, in seconds. */
  readonly lifetime: number;
  /** How far in the future its `iat` may be, in seconds. */
  readonly clockSkew: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Used where nothing else is configured; seconds. */
export const DEFAULT_PROOF_LIFETIME = 300;
export const DEFAULT_CLOCK_SKEW = 5;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Verifies DPoP proofs by RFC 9449 4.3, all but two of its checks: that a nonce is the server's, and that the proof
 * was not used before, is what the token app knows. Does no I/O.
 */
export class DpopVerifier {
  constructor(private readonly options: DpopVerifierOptions) {}

  /**
   * @param field value of the DPoP header field
   * @throws InvalidProofError that names the failed check
   */
  async verify(field: string | readonly string[] | undefined, target: ProofTarget): Promise<DpopProof> {
    const proof = readProof(field);
    const claims = await signedClaims(proof);
    const { lifetime, clockSkew, clock } = this.options;
    const window = { now: clock(), lifetime: lifetime * 1000, clockSkew: clockSkew * 1000 };
    return {
      ...checkClaims(claims, target, window),
      jkt: await calculateJwkThumbprint(proof.jwk, 'sha256'),
    };
  }
}

/** RFC 9449 4.3, 6: "The JWT signature verifies with the public key contained in the jwk JOSE Header Parameter." */
async function signedClaims({ jwt, alg, jwk }: UnverifiedProof): Promise<Readonly<Record<string, unknown>>> {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(jwt, await importJWK(jwk, alg), { algorithms: [alg] }));
  } catch (error) {
    throw new InvalidProofError('signature', 'its signature is not by the key of its jwk', error);
  }
  try {
    const claims: unknown = JSON.parse(utf8.decode(payload));
    if (typeof claims === 'object' && claims !== null) return claims as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new InvalidProofError('well-formed', 'its payload is not a JSON object', error);
  }
  throw new InvalidProofError('well-formed', 'its payload is not a JSON object');
}
