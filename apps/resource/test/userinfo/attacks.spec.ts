import request, { type Response, type Test } from 'supertest';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { DpopKey, ID_TOKEN_KEYS } from '#test/support/keys.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

const URI = 'https://api.example.com/userinfo';
const BOOKINGS = 'https://bookings.example.com:8443';

let app: ResourceApp;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  app = await startResourceApp({ ID_TOKEN_KEYS });
  [client, userId] = [await app.client(), await app.user()];
});

afterAll(() => app.close());

const send = (token: string, scheme = 'Bearer'): Test =>
  request(app.server).get(ENDPOINTS.userInfo).set('Authorization', `${scheme} ${token}`);
const post = () => request(app.server).post(ENDPOINTS.userInfo);
const pairOf = (scope = 'openid profile email', user = userId) => app.pair(client, user, scope);

function expectRefused(answer: Response, status: number, error: string | null): void {
  const challenge = answer.headers['www-authenticate'] ?? '';
  const [, found = null] = /error="([^"]+)"/.exec(challenge) ?? [];
  expect([answer.status, found]).toEqual([status, error]);
  expect(challenge).toContain('scope="openid"');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).toEqual({
    status: 'error',
    timestamp: expect.any(String),
    path: ENDPOINTS.userInfo,
    error: { code: expect.any(String), message: expect.any(String) },
  });
  expect(answer.text).not.toContain('Ada');
}

describe('UserInfo with an invalid token', () => {
  // @openid core 5.3.3
  it('refuses every credential other than an access token', async () => {
    const pair = (await pairOf()) as Awaited<ReturnType<typeof pairOf>> & { id_token: string };
    expect(pair.id_token).toMatch(/^eyJ/);
    const unusedCode = await app.code(client.client_id, userId, { scope: 'openid' });
    const credentials = [pair.id_token, pair.refresh_token, pair.code, unusedCode, client.client_secret];
    for (const credential of credentials) {
      const answers = [await send(credential), await post().type('form').send({ access_token: credential })];
      for (const answer of answers) {
        expectRefused(answer, 401, 'invalid_token');
        expect(answer.text).not.toContain(credential);
      }
    }
    await send(pair.access_token).expect(200);
  });

  it('refuses a token that is only for another API (RFC 8707 2)', async () => {
    const { access_token } = await app.pair(client, userId, 'openid', BOOKINGS);
    for (let round = 0; round < 2; round++) expectRefused(await send(access_token), 401, 'invalid_token');
    const { access_token: own } = await app.pair(
      client,
      userId,
      'openid',
      `https://api.example.com ${BOOKINGS}`,
    );
    await send(own).expect(200);
  });

  it('refuses a token as soon as it is revoked, even if the token and the claims are cached', async () => {
    const { access_token, code } = await pairOf();
    await send(access_token).expect(200);
    await app.replay(client, code);
    await app.settled();
    expectRefused(await send(access_token), 401, 'invalid_token');
  });

  it('refuses an expired token, even if the claims of its user are cached', async () => {
    const { access_token } = await pairOf();
    await send(access_token).expect(200);
    const token = app.codec.decode(access_token);
    if (!token) throw new Error('the codec does not have the keys of the token app');
    expect(app.codec.encode(token)).toBe(access_token);
    const expired = app.codec.encode({ ...token, expiry: Math.floor(Date.now() / 1000) - 60 });
    expectRefused(await send(expired), 401, 'invalid_token');
  });

  it('refuses the tokens of a user who was disabled or deleted, even if the claims are cached', async () => {
    const issuer = 'https://product.example.com';
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
    for (const subject of ['oauth.user.disable', 'oauth.user.delete']) {
      const identity = { issuer, external_id: `gone by ${subject}` };
      const user = { ...identity, name: 'Ada', email: `${subject}@example.com`, updated_at: at(1) };
      const { user_id: id } = await app.ask<{ user_id: number }>('oauth.user.upsert', user);
      const { access_token } = await pairOf('openid profile', id);
      await send(access_token).expect(200);
      await app.ask(subject, { ...identity, updated_at: at(2) });
      await app.settled();
      expectRefused(await send(access_token), 401, 'invalid_token');
    }
  });

  it('refuses a token whose user does not exist, even if its grant is active', async () => {
    const gone = await app.user();
    const { access_token } = await pairOf('openid', gone);
    await send(access_token).expect(200);
    // The trigger rejects the deletion of a user with active grants.
    await app.sql('ALTER TABLE users DISABLE TRIGGER users_end_grants_first');
    await app.sql('DELETE FROM users WHERE id = $1', [gone]);
    await app.sql('ALTER TABLE users ENABLE TRIGGER users_end_grants_first');
    await app.announce('oauth.user.changed', { user_id: gone });
    await app.settled();
    expectRefused(await send(access_token), 401, 'invalid_token');
  });
});

describe('UserInfo', () => {
  it('does not read the token from the query, with GET or POST (RFC 9700 4.3.2)', async () => {
    const { access_token } = await pairOf();
    const url = `${ENDPOINTS.userInfo}?access_token=${access_token}`;
    expectRefused(await request(app.server).get(url), 401, null);
    expectRefused(await request(app.server).post(url), 401, null);
    expectRefused(await request(app.server).post(url).type('form').send('a=b'), 401, null);
  });

  it('does not read the token from JSON or from the body of a GET request (RFC 6750 2.2)', async () => {
    const { access_token } = await pairOf();
    expectRefused(await post().send({ access_token }), 401, null);
    const withBody = request(app.server).get(ENDPOINTS.userInfo).type('form');
    expectRefused(await withBody.send(`access_token=${access_token}`), 401, null);
  });

  // @rfc 6750 2
  it('rejects more than one token with 400 invalid_request', async () => {
    const { access_token } = await pairOf();
    const { access_token: other } = await pairOf('openid');
    const both = await post()
      .set('Authorization', `Bearer ${access_token}`)
      .type('form')
      .send({ access_token });
    expectRefused(both, 400, 'invalid_request');
    const twice = await post().type('form').send(`access_token=${access_token}&access_token=${other}`);
    expectRefused(twice, 400, 'invalid_request');
    const nested = await post().type('form').send(`access_token[a]=${access_token}`);
    expectRefused(nested, 400, 'invalid_request');
    for (const text of ['a b', `${access_token} ${other}`, `${access_token}\r\nX: y`])
      expectRefused(await post().type('form').send({ access_token: text }), 400, 'invalid_request');
  });
});

describe('the scope of a token at UserInfo', () => {
  // @rfc 6750 3.1
  it('must include openid', async () => {
    for (const scope of ['profile email', 'profile:read', 'openidx', 'OPENID'])
      expectRefused(await send((await pairOf(scope)).access_token), 403, 'insufficient_scope');
  });

  it('limits the claims, even if all claims are cached', async () => {
    const { access_token, refresh_token } = await pairOf();
    expect((await send(access_token)).body).toHaveProperty('email');
    const narrow = await app.narrowed(client, refresh_token, 'openid');
    expect((await send(narrow.access_token)).body).toEqual({ sub: String(userId) });
  });
});

// @rfc 9449 7
it('UserInfo accepts a bound token only with a proof for its URL and method', async () => {
  const key = await DpopKey.generate();
  const bound = await startBound(key);
  const proof = (method: string, uri = URI) => key.proof(method, uri, { accessToken: bound });
  await send(bound, 'DPoP')
    .set('DPoP', await proof('GET'))
    .expect(200);
  await post()
    .set('Authorization', `DPoP ${bound}`)
    .set('DPoP', await proof('POST'))
    .expect(200);
  expectRefused(await send(bound), 401, 'invalid_token');
  expectRefused(await post().type('form').send({ access_token: bound }), 401, 'invalid_token');
  const wrong = [await proof('POST'), await proof('GET', 'https://api.example.com/v2/me')];
  for (const wrongProof of wrong)
    expectRefused(await send(bound, 'DPoP').set('DPoP', wrongProof), 401, 'invalid_dpop_proof');
});

async function startBound(key: DpopKey): Promise<string> {
  const code = await app.code(client.client_id, userId, { scope: 'openid' });
  const uri = 'https://base.example.com/api/auth/oauth/token';
  const { body } = await request(app.tokenUrl())
    .post('/api/auth/oauth/token')
    .set('DPoP', await key.proof('POST', uri))
    .send({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client });
  return (body as { access_token: string }).access_token;
}
