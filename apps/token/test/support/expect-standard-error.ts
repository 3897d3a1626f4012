import type { Response } from 'supertest';
import { ERROR_GUIDE } from '#error-guide/error-guide.js';

const ENTRIES = ERROR_GUIDE.flatMap(({ entries }) => entries);

/** Expects exactly the error of RFC 6749 5.2, without caching and without a redirect. */
export function expectStandardError(answer: Response, status: number, error: string): void {
  expect(answer.body).toEqual({
    error,
    // RFC 6749 5.2: no quotes, no backslashes, nothing outside ASCII
    error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    error_uri: expect.any(String),
    error_reference: expect.stringMatching(/^[\w-]{12}$/),
  });
  // The error guide explains this check.
  const [page, anchor] = (answer.body as { error_uri: string }).error_uri.split('#');
  expect(page).toMatch(/^https?:\/\/[^/]+\/api\/auth\/oauth\/errors$/);
  const entry = ENTRIES.find((candidate) => candidate.anchor === anchor);
  expect(entry).toBeDefined();
  expect(entry && 'errors' in entry ? entry.errors : [error]).toContain(error);
  expect(answer.status).toBe(status);
  expect(answer.headers['location']).toBeUndefined();
  expect(answer.headers['cache-control']).toBe('no-store');
}
