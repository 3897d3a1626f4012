import request, { type Test } from 'supertest';
import { expectStandardError } from './expect-standard-error.js';
import { useTokenApp } from './use-token-app.js';
import type { Pair } from '#test/support/tokens.js';
import { started } from '#test/support/started.js';

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
