/** The token app did not answer over NATS. Nothing is known about the token: refuse with 503, never let it through. */
export class IntrospectionUnavailableError extends Error {
  readonly dependency = 'nats';

  constructor(reason: string, cause?: unknown) {
    super(`the token service did not answer: ${reason}`, { cause });
    this.name = 'IntrospectionUnavailableError';
  }
}
