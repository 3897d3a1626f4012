import request from 'supertest';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';

let app: TokenApp;
let postgres: FaultProxy;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  app = await startTokenApp(async ({ databaseUrl }) => {
    postgres = await FaultProxy.start(databaseUrl);
    return { DATABASE_URL: postgres.url };
  });
  client = await app.client();
  userId = await app.user();
});

afterEach(() => {
  postgres.reconnect();
});

afterAll(async () => {
  await app.close();
  await postgres.close();
});

const post = (path: string, body: object) => request(app.server).post(`/api/auth/oauth/${path}`).send(body);

function stop(): void {
  postgres.disconnect();
}

const UNAVAILABLE = { status: 503, error: 'temporarily_unavailable', retryAfter: '1' };

function shown(answer: { status: number; body: { error?: string }; headers: Record<string, string> }) {
  return { status: answer.status, error: answer.body.error, retryAfter: answer.headers['retry-after'] };
}

describe('the token app while PostgreSQL is down', () => {
  // @reliability unavailable
  it.each([
    ['token', { grant_type: 'refresh_token', refresh_token: 'srt_x' }],
    ['refreshToken', { grant_type: 'refresh_token', refresh_token: 'srt_x' }],
    ['revoke', { token: 'srt_x' }],
    ['introspect', { token: 'sat_x' }],
  ])('responds with 503 to a client that is not cached: %s', async (path, body) => {
    stop();
    const uncached = path === 'introspect' ? 'rs_aaaaaaaaaaaaaaaaaaaaaaaa' : 'sc_stranger';
    const answer = await post(path, { ...body, client_id: uncached, client_secret: 'scs_x' });
    expect(shown(answer)).toEqual(UNAVAILABLE);
    expect(answer.text).not.toMatch(/ECONN|postgres|terminated/i);
  });

  // @reliability postgresql-down
  it('serves cached clients, and restores lost grants after the outage', async () => {
    const code = await app.code(client.client_id, userId);
    const another = await app.code(client.client_id, userId);
    const exchange = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, ...client };
    expect((await post('token', { ...exchange, code })).status).toBe(200);
    stop();
    const { status, body } = await post('token', { ...exchange, code: another });
    expect(status).toBe(200);
    const refreshBody = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string };
    const refreshed = await post('token', { ...refreshBody, ...client });
    expect(refreshed.status).toBe(200);
    // Grants that Redis has lost cannot be looked up.
    await app.redis.flushdb();
    const next = { ...refreshBody, refresh_token: refreshed.body.refresh_token as string, ...client };
    expect(shown(await post('token', next))).toEqual(UNAVAILABLE);
    postgres.reconnect();
    expect((await post('token', next)).status).toBe(200);
  });
});
