import type { Response } from 'supertest';

/** An answer is the standard's error and nothing beside it (RFC 6749 5.2), and nobody keeps or follows it. */
export function expectStandardError(answer: Response, status: number, error: string): void {
  expect(answer.body).toEqual({
    error,
    // RFC 6749 5.2: no quotes, no backslashes, nothing outside ASCII
    error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    error_reference: expect.stringMatching(/^[\w-]{12}$/),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers['location']).toBeUndefined();
  expect(answer.headers['cache-control']).toBe('no-store');
}
