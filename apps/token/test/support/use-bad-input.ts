import request, { type Response, type Test } from 'supertest';
import { ERROR_GUIDE } from '#error-guide/error-guide.js';
import type { Pair } from '#test/support/tokens.js';
import { started } from '#test/support/fixture.js';
import { useTokenApp } from './use-token-app.js';

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

/** Requests by the rule that they break. */
type BadRequests = Readonly<Record<string, () => Test>>;

export function useBadInput() {
  const app = useTokenApp();
  const good = started() as Pair & { code: string };
  let state: string;

  beforeAll(async () => {
    Object.assign(good, await app.pair(), { code: await app.ourCode() });
    state = await snapshot();
  });

  async function snapshot(): Promise<string> {
    const keys = (await app.redis.keys('*')).sort();
    return JSON.stringify(await Promise.all(keys.map(async (key) => [key, await app.redis.hgetall(key)])));
  }

  /** Expects each request to get this error, which contains no secret, and to change nothing in Redis. */
  const refuses = (status: number, error: string, requests: BadRequests): void => {
    it.each(Object.entries(requests))(
      'refuses a request with the standard error, and changes nothing: %s',
      async (_rule, sending) => {
        const answer = await sending();
        expectStandardError(answer, status, error);
        for (const secret of [app.ours.client_secret, good.code, good.access_token, good.refresh_token])
          expect(answer.text).not.toContain(secret);
        expect(await snapshot()).toBe(state);
      },
    );
  };

  return { app, good, refuses, send: (path: string) => request(app.server).post(`/api/auth/oauth/${path}`) };
}
