/**
 * A backing service did not answer, or failed. The outcome is unknown, so the request fails closed: 503, and the client may
 * repeat it.
 */
export class DependencyUnavailableError extends Error {
  /**
   * @param dependency its name as /readyz lists it: `redis`, `postgres`, `nats`
   * @param cause the driver's error, or a reason
   */
  constructor(
    readonly dependency: string,
    cause: unknown,
  ) {
    super(`${dependency} is unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'DependencyUnavailableError';
  }
}
