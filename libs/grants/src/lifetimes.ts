/** How long things live, in seconds (DESIGN 3). */
export interface Lifetimes {
  readonly code: number;
  readonly accessToken: number;
  /** Sliding: counted anew from every refresh. */
  readonly refreshToken: number;
  /** How long a rotated refresh token still gets the same answer; 0 makes refresh tokens strictly single use. */
  readonly retryWindow: number;
  /** How far the clocks of two machines may stand apart. */
  readonly clockSkew: number;
}

export const DEFAULT_LIFETIMES: Lifetimes = {
  code: 60,
  accessToken: 30 * 60,
  refreshToken: 90 * 24 * 60 * 60,
  retryWindow: 30,
  clockSkew: 5,
};

/** How long Redis remembers a grant after its last transition: as long as any token of it can be used. */
export function grantTtl(lifetimes: Lifetimes): number {
  return lifetimes.refreshToken + lifetimes.clockSkew;
}
