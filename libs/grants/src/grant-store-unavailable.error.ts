/** Redis did not answer, or not with an answer. Nothing is known of the transition; the request fails closed (503). */
export class GrantStoreUnavailableError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super(
      `Redis did not carry out a grant transition: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.name = 'GrantStoreUnavailableError';
  }
}
