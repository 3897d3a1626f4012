/** Redis did not answer: whether a proof was used before is not known, and the request must not pass. */
export class ProofStoreUnavailableError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super('the store of used DPoP proofs did not answer', { cause });
    this.name = 'ProofStoreUnavailableError';
  }
}
