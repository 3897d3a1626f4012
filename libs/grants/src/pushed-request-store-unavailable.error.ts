/** Redis did not answer for a pushed request: the step may or may not have happened, and the caller fails closed (503). */
export class PushedRequestStoreUnavailableError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super(
      `Redis did not answer for a pushed request: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.name = 'PushedRequestStoreUnavailableError';
  }
}
