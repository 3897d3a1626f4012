export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Thrown if a backing service failed or timed out. The request fails with 503, because the outcome is unknown. */
export class DependencyUnavailableError extends Error {
  /** @param dependency name as in /readyz: `redis`, `postgres`, `nats` */
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
