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

/** What a check compared, for the operator. */
type Compared = Readonly<Record<string, string>>;

/** A DPoP proof is missing or invalid. The message is for the client and repeats nothing of what was sent. */
export class InvalidProofError extends Error {
  readonly compared: Compared;

  constructor(
    readonly check: ProofCheck,
    readonly description: string,
    { cause, compared = {} }: { readonly cause?: unknown; readonly compared?: Compared } = {},
  ) {
    super(`invalid DPoP proof: ${description}`, { cause });
    this.name = 'InvalidProofError';
    this.compared = compared;
  }
}
