/** The check of RFC 9449 4.3 that a proof failed. */
export type ProofCheck =
  | 'one header'
  | 'size'
  | 'well-formed'
  | 'claims'
  | 'typ'
  | 'alg'
  | 'jwk'
  | 'signature'
  | 'htm'
  | 'htu'
  | 'nonce'
  | 'iat'
  | 'ath'
  | 'jti'
  | 'replay';

/** A DPoP proof is missing or invalid. The message is for the client and repeats nothing of what was sent. */
export class InvalidProofError extends Error {
  constructor(
    readonly check: ProofCheck,
    readonly description: string,
    cause?: unknown,
  ) {
    super(`invalid DPoP proof: ${description}`, { cause });
    this.name = 'InvalidProofError';
  }
}
