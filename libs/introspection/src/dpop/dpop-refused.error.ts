/** The error codes of RFC 6750 3.1 and RFC 9449 7.1 and 9. */
export type DpopErrorCode = 'invalid_request' | 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';

/** A request with a DPoP token that must not pass. The message is for the client. */
export class DpopRefusedError extends Error {
  /** What to send in DPoP-Nonce, where it is known. */
  readonly nonce: string | undefined;

  constructor(
    readonly code: DpopErrorCode,
    message: string,
    { nonce, cause }: { readonly nonce?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'DpopRefusedError';
    this.nonce = nonce;
  }
}
