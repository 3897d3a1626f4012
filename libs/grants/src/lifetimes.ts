/** Lifetimes in seconds. */
export interface Lifetimes {
  readonly code: number;
  readonly accessToken: number;
  /** Sliding: each refresh starts it again. */
  readonly refreshToken: number;
  /** How long a rotated refresh token still gets the same answer; 0 makes refresh tokens single use. */
  readonly retryWindow: number;
  /** Allowed difference between the clocks of two machines. */
  readonly clockSkew: number;
}

export const DEFAULT_LIFETIMES: Lifetimes = {
  code: 60,
  accessToken: 30 * 60,
  refreshToken: 90 * 24 * 60 * 60,
  retryWindow: 30,
  clockSkew: 5,
};

/** TTL of a grant in Redis, in seconds, set by every transition: as long as any of its tokens is valid. */
export function grantTtl(lifetimes: Lifetimes): number {
  return lifetimes.refreshToken + lifetimes.clockSkew;
}

/** Injection token of the Lifetimes. */
export const LIFETIMES = Symbol('lifetimes');
