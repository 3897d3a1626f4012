import type { Response } from 'supertest';

/**
 * The answer to a request that was made at a time says how many seconds its access token has left of this lifetime: all of
 * them, or as many less as ended while it was made.
 */
export function expectLifetime({ body }: Response, seconds: number, began: number): void {
  const { expires_in } = body as { expires_in: number };
  expect(expires_in).toBeLessThanOrEqual(seconds);
  expect(expires_in).toBeGreaterThanOrEqual(seconds - Math.ceil((Date.now() - began) / 1000));
}
