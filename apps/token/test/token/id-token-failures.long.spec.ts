import { decodeJwt } from 'jose';
import request from 'supertest';
import { type ClaimsReply, SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { pkcs8, rsaKey } from '#test/support/keys.js';
import { storedGrant } from '#test/support/stored.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';

const LOGIN = { authTime: 1_700_000_000, session: 'a'.repeat(43) };
const OPENID = { scope: 'openid profile email', login: LOGIN } as const;

let app: TokenApp;
let postgres: FaultProxy;
let userId: number;

beforeAll(async () => {
  app = await startTokenApp(async ({ databaseUrl }) => {
    postgres = await FaultProxy.start(databaseUrl);
    return { DATABASE_URL: postgres.url, ID_TOKEN_KEYS: pkcs8(rsaKey()), DEPENDENCY_TIMEOUT: 3 };
  });
  userId = await app.user();
});

afterEach(() => postgres.reconnect());

afterAll(async () => {
  await app.close();
  await postgres.close();
});

async function register(idTokenAlg: SigningAlgorithm | null): Promise<TestClient> {
  const { secret, hash } = generateClientSecret();
  const { clientId } = await app.clients.create({
    name: 'Calendar Connect',
    type: 'confidential',
    scopes: ['openid', 'profile', 'email'],
    redirectUris: [REDIRECT_URI],
    secretHash: hash,
    idTokenAlg,
  });
  return { client_id: clientId, client_secret: secret };
}

const post = (body: object) => request(app.server).post('/api/auth/oauth/token').send(body);
const exchange = (client: TestClient, code: string) =>
  post({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client });
const refresh = (client: TestClient, refresh_token: string) =>
  post({ grant_type: 'refresh_token', refresh_token, ...client });

async function setAlgorithm({ client_id }: TestClient, alg: SigningAlgorithm | null): Promise<void> {
  await app.sql('UPDATE clients SET id_token_alg = $1 WHERE client_id = $2', [alg, client_id]);
  await app.announce(SUBJECTS.clientChanged, { client_id });
  await app.settled();
}

describe('a client whose algorithm has no key', () => {
  it('does not lose its code, because the exchange is refused before the code is redeemed', async () => {
    const client = await register('ES256');
    const code = await app.code(client.client_id, userId, OPENID);
    for (let tries = 0; tries < 2; tries++) {
      const refused = await exchange(client, code);
      expectStandardError(refused, 500, 'server_error');
      expect(refused.body.error_uri).toMatch(/#server_error$/);
    }
    expect(await storedGrant(app.redis, app.grantIdOf(code))).toMatchObject({ status: 'pending' });
    await setAlgorithm(client, null);
    const answer = await exchange(client, code);
    expect([answer.status, typeof answer.body.id_token]).toEqual([200, 'string']);
  });

  // @openid core 12.2
  it('gets no ID token in a refresh', async () => {
    const client = await register(null);
    const first = await exchange(client, await app.code(client.client_id, userId, OPENID));
    await setAlgorithm(client, 'ES256');
    const answer = await refresh(client, String(first.body.refresh_token));
    expect([answer.status, answer.body.scope, answer.body.id_token]).toEqual([200, OPENID.scope, undefined]);
    await setAlgorithm(client, null);
    const next = await refresh(client, String(answer.body.refresh_token));
    expect([next.status, typeof next.body.id_token]).toEqual([200, 'string']);
  });
});

describe('a code exchange while PostgreSQL is down', () => {
  // @reliability postgresql-down
  it.each([
    ['refuses connections', () => postgres.disconnect()],
    ['is silent', () => postgres.silence('all')],
  ])(
    'returns an ID token without the individually requested claims, which UserInfo returns later: PostgreSQL %s',
    async (_, fail) => {
      const client = await register(null);
      const claims = ['email', 'name'] as const;
      const [cached, code] = [
        await app.code(client.client_id, userId, OPENID),
        await app.code(client.client_id, userId, { ...OPENID, idToken: { nonce: 'n-1', claims } }),
      ];
      expect((await exchange(client, cached)).status).toBe(200);
      fail();
      const answer = await exchange(client, code);
      expect(answer.status).toBe(200);
      const payload = decodeJwt(String(answer.body.id_token));
      expect(payload).toMatchObject({ sub: String(userId), nonce: 'n-1', auth_time: LOGIN.authTime });
      for (const claim of claims) expect(payload).not.toHaveProperty(claim);
      postgres.reconnect();
      postgres.cut();
      const { claims: found } = await app.ask<ClaimsReply>(SUBJECTS.claims, {
        user_id: userId,
        client_id: client.client_id,
      });
      expect(found).toMatchObject({ name: 'Ada Lovelace', email: expect.stringContaining('@example.com') });
      expect((await refresh(client, String(answer.body.refresh_token))).status).toBe(200);
    },
  );
});
