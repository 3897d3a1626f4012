import request from 'supertest';
import { REDIRECT_URI, startTokenApp, type TestClient, type TokenApp } from './token-app.js';

let app: TokenApp;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  app = await startTokenApp();
  client = await app.client();
  userId = await app.user();
});

afterAll(() => app.close());

const exchange = (body: object) => request(app.server).post('/api/auth/oauth/token').send(body);

describe('POST /api/auth/oauth/token', () => {
  it('exchanges a code for a token pair', async () => {
    const code = await app.code(client.client_id, userId);
    const answer = await exchange({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...client,
    });
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^sat_/),
      refresh_token: expect.stringMatching(/^srt_/),
      token_type: 'Bearer',
      expires_in: 1800,
      scope: 'profile:read',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-type': expect.stringMatching(/^application\/json/),
    });
  });
});
