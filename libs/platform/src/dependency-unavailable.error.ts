import { messageOf } from './message-of.js';
/**
 * A backing service failed or did not answer. The outcome is unknown, so the request fails closed with 503, and the
 * client may retry.
 */
export class DependencyUnavailableError extends Error {
  /**
   * @param dependency name as in /readyz: `redis`, `postgres`, `nats`
   * @param cause the driver's error, or a reason
   */
  constructor(
    readonly dependency: string,
    cause: unknown,
  ) {
    super(`${dependency} is unavailable: ${messageOf(cause)}`, {
      cause,
    });
    this.name = 'DependencyUnavailableError';
  }
}
