import { randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { TestClient } from '#test/support/fixture.js';
import { refusedByPreflight } from '#test/support/preflight.js';
import { USERINFO_METADATA_PATH } from '../../src/userinfo/userinfo.openapi.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

const ALL = 'openid profile email';

let app: ResourceApp;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  app = await startResourceApp();
  client = await app.client();
  userId = await app.user();
  await app.sql('UPDATE users SET locale = $1, avatar_url = $2 WHERE id = $3', [
    'de',
    'https://pictures.example.com/ada.png',
    userId,
  ]);
});

afterAll(() => app.close());

const get = (token: string): Test =>
  request(app.server).get(ENDPOINTS.userInfo).set('Authorization', `Bearer ${token}`);
const tokenOf = async (scope: string, user = userId, owner = client): Promise<string> =>
  (await app.pair(owner, user, scope)).access_token;

async function requestsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const heard: string[] = [];
  const stop = app.hear('oauth.*.*', (message) => heard.push((message as { pattern: string }).pattern));
  await app.settled();
  await work();
  await app.settled();
  stop();
  return heard;
}

async function pairwiseClient(sector: string): Promise<TestClient> {
  const { client_id: id, client_secret: secret } = await app.client();
  await app.sql('INSERT INTO subject_sectors (sector, key) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    sector,
    randomBytes(32),
  ]);
  await app.sql('UPDATE clients SET sector = $1 WHERE client_id = $2', [sector, id]);
  return { client_id: id, client_secret: secret };
}

describe('UserInfo (OpenID Connect Core 5.3)', () => {
  // @openid core 5.3.2
  it('returns `sub` and the claims of the granted scopes as plain JSON', async () => {
    const user = await app.users.find(userId);
    const profile = {
      name: 'Ada Lovelace',
      preferred_username: user?.username,
      picture: 'https://pictures.example.com/ada.png',
      locale: 'de',
      zoneinfo: user?.timeZone,
    };
    const email = { email: user?.email, email_verified: true };
    const sub = String(userId);
    for (const [scope, claims] of [
      ['openid', {}],
      ['openid profile', profile],
      ['openid email', email],
      [ALL, { ...profile, ...email }],
      ['profile:read openid', {}],
    ] as const) {
      const answer = await get(await tokenOf(scope));
      expect([scope, answer.status, answer.body]).toEqual([scope, 200, { sub, ...claims }]);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  // @openid core 5.3.1
  it('accepts GET and POST, with the token in the header or in a form body (RFC 6750 2.1, 2.2)', async () => {
    const token = await tokenOf('openid');
    const post = () => request(app.server).post(ENDPOINTS.userInfo);
    const answers = [
      await get(token),
      await post().set('Authorization', `Bearer ${token}`),
      await post().set('Authorization', `Bearer ${token}`).type('form').send('unknown=1'),
      await post().type('form').send({ access_token: token }),
      await post()
        .set('Content-Type', 'application/x-www-form-urlencoded; charset=utf-8')
        .send(`access_token=${token}`),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([200, { sub: String(userId) }]);
  });

  // @openid core 8.1
  it('returns a pairwise `sub`, so that clients of different sectors cannot link the user', async () => {
    const [first, same, other] = [
      await pairwiseClient('a.example'),
      await pairwiseClient('a.example'),
      await pairwiseClient('b.example'),
    ];
    const subs: string[] = [];
    for (const owner of [first, same, other, client])
      subs.push((await get(await tokenOf('openid', userId, owner))).body.sub);
    const [a, again, b, open] = subs;
    expect(a).toMatch(/^[\w-]{43}$/);
    expect(again).toBe(a);
    expect(b).not.toBe(a);
    expect(open).toBe(String(userId));
  });

  it('omits an email that is not verified, and returns email_verified as stored', async () => {
    const id = await app.user();
    await app.sql('UPDATE users SET email_verified = false WHERE id = $1', [id]);
    const answer = await get(await tokenOf('openid email', id));
    expect(answer.body).toEqual({ sub: String(id), email_verified: false });
  });

  it('costs no NATS request for cached tokens and claims, regardless of the scopes', async () => {
    const tokens = [await tokenOf('openid'), await tokenOf(ALL)];
    for (const token of tokens) await get(token).expect(200);
    const heard = await requestsDuring(async () => {
      for (let round = 0; round < 10; round++) for (const token of tokens) await get(token).expect(200);
    });
    expect(heard).toEqual([]);
  });

  it('fetches the claims once for concurrent requests', async () => {
    const [user, owner] = [await app.user(), await app.client()];
    const tokens = [await tokenOf('openid', user, owner), await tokenOf(ALL, user, owner)];
    const heard = await requestsDuring(() =>
      Promise.all(Array.from({ length: 20 }, (_, n) => get(tokens[n % 2] ?? '').expect(200))),
    );
    expect(heard.filter((subject) => subject === 'oauth.user.claims')).toHaveLength(1);
  });

  it('may be called by scripts of any origin (CORS)', async () => {
    expect(await refusedByPreflight(app.server, 'GET', ENDPOINTS.userInfo)).toEqual([]);
    expect(await refusedByPreflight(app.server, 'POST', ENDPOINTS.userInfo)).toEqual([]);
    const answer = await get(await tokenOf('openid')).set('Origin', 'https://spa.example.com');
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  // @rfc 9728 3.3
  it('has its own metadata at the URL in its challenges (RFC 9728 3.3)', async () => {
    const { headers } = await request(app.server).get(ENDPOINTS.userInfo);
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(headers['www-authenticate'] ?? '') ?? [];
    expect(new URL(address).pathname).toBe(USERINFO_METADATA_PATH);
    const { body } = await request(app.server).get(USERINFO_METADATA_PATH);
    expect(body).toEqual({
      resource: 'https://api.example.com/userinfo',
      resource_name: 'Scheduling API',
      authorization_servers: ['https://base.example.com'],
      scopes_supported: ['openid', 'profile', 'email'],
      bearer_methods_supported: ['header', 'body'],
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    });
  });
});

describe('a change to the user or the client', () => {
  const change = async (subject: string, event: object): Promise<void> => {
    await app.announce(subject, event);
    await app.settled();
  };

  it('is visible as soon as it is broadcast', async () => {
    const id = await app.user();
    const token = await tokenOf(ALL, id);
    expect((await get(token)).body).toMatchObject({ name: 'Ada Lovelace', email_verified: true });
    await app.sql("UPDATE users SET name = 'Ada King', email_verified = false WHERE id = $1", [id]);
    await change('oauth.user.changed', { user_id: id });
    const { body } = await get(token);
    expect(body).toMatchObject({ name: 'Ada King', email_verified: false });
    expect(body).not.toHaveProperty('email');
  });

  it('causes the claims to be fetched again if the client changed', async () => {
    const token = await tokenOf('openid');
    await get(token).expect(200);
    await change('oauth.client.changed', { client_id: client.client_id });
    const heard = await requestsDuring(() => get(token).expect(200));
    expect(heard).toContain('oauth.user.claims');
  });

  it('leaves the claims in the cache if another user changed', async () => {
    const token = await tokenOf('openid');
    await get(token).expect(200);
    await change('oauth.user.changed', { user_id: userId + 1_000 });
    expect(await requestsDuring(() => get(token).expect(200))).toEqual([]);
  });
});
