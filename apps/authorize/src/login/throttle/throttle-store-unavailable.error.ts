/** Redis did not answer: nobody knows how often was guessed, and no password is looked at (503). */
export class ThrottleStoreUnavailableError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super('the counters of failed logins did not answer', { cause });
    this.name = 'ThrottleStoreUnavailableError';
  }
}
