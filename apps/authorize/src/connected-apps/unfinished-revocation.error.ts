/** What was revoked is recorded for good, but Redis did not answer: its tokens may still work. Repeating it mends that. */
export class UnfinishedRevocationError extends Error {
  readonly dependency = 'redis';

  constructor(cause: unknown) {
    super('revocations that are recorded could not be applied to Redis', { cause });
    this.name = 'UnfinishedRevocationError';
  }
}
