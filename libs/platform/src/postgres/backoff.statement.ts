const SECONDS = 'ARRAY[5, 30, 120, 600, 1800, 3600]';

/**
 * Returns the interval until the next attempt.
 * @param failures SQL expression: number of consecutive failures, at least 1
 */
export const backoff = (failures: string): string =>
  `make_interval(secs => (${SECONDS})[least(${failures}, cardinality(${SECONDS}))])`;
