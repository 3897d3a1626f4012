/** In seconds. */
export abstract class Lifetimes {
  abstract readonly code: number;
  abstract readonly accessToken: number;
  /** Lifetime since the code exchange or the latest rotation. */
  abstract readonly refreshToken: number;
  /** Time in which a rotated refresh token or a device code gets the same response again; 0 makes both single-use. */
  abstract readonly retryWindow: number;
  /** Tolerated difference between the clocks of two machines. */
  abstract readonly clockSkew: number;
}

export const DEFAULT_LIFETIMES = {
  code: 60,
  accessToken: 30 * 60,
  refreshToken: 90 * 24 * 60 * 60,
  retryWindow: 30,
  clockSkew: 5,
} satisfies Lifetimes;

/**
 * TTL in seconds of a grant with a refresh token, and of its tombstone. The grant outlives the refresh token, even if
 * clocks differ.
 */
export function grantTtl(lifetimes: Lifetimes): number {
  return lifetimes.refreshToken + lifetimes.clockSkew;
}

/** TTL of a grant whose authorization code has not been redeemed, in seconds. */
export function codeTtl({ code, clockSkew }: Lifetimes): number {
  return code + clockSkew;
}
