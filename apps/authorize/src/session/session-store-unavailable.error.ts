/** Redis did not answer: nobody knows who is logged in, and the request fails closed (503). */
export class SessionStoreUnavailableError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super(`Redis did not answer for a session: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'SessionStoreUnavailableError';
  }
}
