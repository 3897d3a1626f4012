import request, { type Test } from 'supertest';
import { REDIRECT_URI, started, type TestClient } from '#test/support/fixture.js';
import type { TokenConfiguration } from '../../src/token.configuration.js';
import { startTokenApp, type TokenApp } from './start-token-app.js';
import type { Pair } from '#test/support/tokens.js';

type Pending = Parameters<TokenApp['code']>[2];

export interface ConnectedTokenApp extends TokenApp {
  readonly ours: TestClient;
  readonly userId: number;
  post(endpoint: string, body: object | string): Test;
  ourCode(pending?: Pending): Promise<string>;
  redemption(code: string): TestClient & { grant_type: string; code: string; redirect_uri: string };
  pair(pending?: Pending): Promise<Pair>;
}

export function useTokenApp(settings: Partial<TokenConfiguration> = {}): ConnectedTokenApp {
  const app = started() as ConnectedTokenApp;
  beforeAll(async () => {
    Object.assign(app, await connected(settings));
  });
  afterAll(() => app.close());
  return app;
}

async function connected(settings: Partial<TokenConfiguration>): Promise<ConnectedTokenApp> {
  const app = await startTokenApp(settings);
  const [ours, userId] = [await app.client(), await app.user()];
  const post = (endpoint: string, body: object | string): Test =>
    request(app.server).post(`/api/auth/oauth/${endpoint}`).send(body);
  const ourCode = (pending?: Pending) => app.code(ours.client_id, userId, pending);
  const redemption = (code: string) => ({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...ours,
  });
  return {
    ...app,
    ours,
    userId,
    post,
    ourCode,
    redemption,
    async pair(pending) {
      const answer = await post('token', redemption(await ourCode(pending)));
      expect(answer.status).toBe(200);
      return answer.body as Pair;
    },
  };
}
