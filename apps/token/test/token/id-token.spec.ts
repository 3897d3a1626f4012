import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import request, { type Response } from 'supertest';
import { accessTokenHash, sessionIdFor } from '#oauth/openid/id-token.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp({ ID_TOKEN_KEYS, API_URL: 'https://api.example.com' });
const off = useTokenApp();

const LOGIN = { authTime: 1_700_000_000, session: 'a'.repeat(43) };
const OPENID = { scope: 'openid profile:read', login: LOGIN, idToken: { nonce: 'n-1' } } as const;

const verified = async (answer: Response) => {
  const { body: keys } = await request(app.server).get('/api/auth/oauth/jwks');
  const { payload, protectedHeader } = await jwtVerify(
    String(answer.body.id_token),
    createLocalJWKSet(keys as JSONWebKeySet),
    { issuer: 'https://base.example.com', audience: app.ours.client_id },
  );
  return { payload, alg: protectedHeader.alg };
};

const exchange = async (pending: Parameters<typeof app.ourCode>[0] = OPENID): Promise<Response> =>
  app.post('token', app.redemption(await app.ourCode(pending)));

const refresh = (token: string, more: object = {}) =>
  app.post('token', { ...app.ours, grant_type: 'refresh_token', refresh_token: token, ...more });

describe('the ID token of a code exchange (OpenID Connect Core 3.1.3.3)', () => {
  // @openid core 2 @openid core 3.1.3.3
  it('contains issuer, user, client, login, nonce and the hash of the access token', async () => {
    const answer = await exchange();
    expect(answer.status).toBe(200);
    const { payload, alg } = await verified(answer);
    expect(alg).toBe('RS256');
    expect(payload).toEqual({
      iss: 'https://base.example.com',
      sub: String(app.userId),
      aud: app.ours.client_id,
      iat: expect.any(Number),
      exp: Number(payload.iat) + 1_800,
      auth_time: LOGIN.authTime,
      nonce: 'n-1',
      at_hash: accessTokenHash(String(answer.body.access_token), 'RS256'),
      sid: sessionIdFor(app.ours.client_id, LOGIN.session),
    });
  });

  it('is absent without the openid scope', async () => {
    expect((await exchange({ scope: 'profile:read' })).body).not.toHaveProperty('id_token');
  });

  it('is absent without keys, even if openid was granted', async () => {
    const answer = await off.post('token', off.redemption(await off.ourCode(OPENID)));
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('id_token');
  });

  it('has no auth_time if the login provider did not report it', async () => {
    const { payload } = await verified(await exchange({ ...OPENID, login: { ...LOGIN, authTime: null } }));
    expect(payload).not.toHaveProperty('auth_time');
  });

  it('has individually requested claims that the granted scopes include (OpenID Connect Core 5.5)', async () => {
    const idToken = { claims: ['email', 'name'] } as const;
    const { payload } = await verified(await exchange({ ...OPENID, scope: 'openid email', idToken }));
    expect(payload).toMatchObject({ email: expect.stringContaining('@example.com') });
    expect(payload).not.toHaveProperty('name');
    expect(payload).not.toHaveProperty('email_verified');
  });

  // @openid core 2
  it('is signed with the registered algorithm of the client', async () => {
    for (const alg of ['ES256', 'EdDSA']) {
      await app.sql('UPDATE clients SET id_token_alg = $1 WHERE client_id = $2', [alg, app.ours.client_id]);
      await app.announce('oauth.client.changed', { client_id: app.ours.client_id });
      await app.settled();
      const answer = await exchange();
      const { payload, alg: signed } = await verified(answer);
      expect([signed, payload['at_hash']]).toEqual([
        alg,
        accessTokenHash(String(answer.body.access_token), alg as 'ES256'),
      ]);
    }
    await app.sql('UPDATE clients SET id_token_alg = NULL WHERE client_id = $1', [app.ours.client_id]);
    await app.announce('oauth.client.changed', { client_id: app.ours.client_id });
    await app.settled();
  });

  it('is not accepted as a refresh token or as a code', async () => {
    const { id_token: idToken } = (await exchange()).body as { id_token: string };
    expect((await refresh(idToken)).body.error).not.toBeUndefined();
    const code = await app.post('token', { ...app.redemption(idToken.slice(0, 500)) });
    expect(code.body.error).toBe('invalid_grant');
  });
});

describe('the ID token of a refresh (OpenID Connect Core 12.2)', () => {
  // @openid core 12.2
  it('has the sub, aud, auth_time and sid of the first ID token, but no nonce', async () => {
    const first = await exchange();
    const { payload: before } = await verified(first);
    const { payload } = await verified(await refresh(String(first.body.refresh_token)));
    const { sub, aud, auth_time: authTime, sid, nonce } = payload;
    expect({ sub, aud, auth_time: authTime, sid }).toEqual({
      sub: before.sub,
      aud: before.aud,
      auth_time: before['auth_time'],
      sid: before['sid'],
    });
    expect(nonce).toBeUndefined();
  });

  it('is absent if the requested scope excludes openid', async () => {
    const first = await exchange();
    const answer = await refresh(String(first.body.refresh_token), { scope: 'profile:read' });
    expect([answer.status, answer.body.id_token]).toEqual([200, undefined]);
  });

  it('has auth_time and sid after Redis has lost the grant', async () => {
    const first = await exchange();
    const { payload: before } = await verified(first);
    await app.redis.del(`grant:${app.grantIdOf(String(first.body.refresh_token))}`);
    const { payload } = await verified(await refresh(String(first.body.refresh_token)));
    expect([payload['auth_time'], payload['sid']]).toEqual([before['auth_time'], before['sid']]);
  });

  it('is issued again in a retry', async () => {
    const first = await exchange();
    const [one, two] = [
      await refresh(String(first.body.refresh_token)),
      await refresh(String(first.body.refresh_token)),
    ];
    expect(two.body.access_token).toBe(one.body.access_token);
    expect(decodeJwt(String(two.body.id_token))).toEqual(decodeJwt(String(one.body.id_token)));
  });
});

describe('the key set (RFC 7517)', () => {
  it('may be cached, and is revalidated by ETag', async () => {
    const first = await request(app.server).get('/api/auth/oauth/jwks');
    expect(first.headers['cache-control']).toBe('public, max-age=300');
    const again = await request(app.server)
      .get('/api/auth/oauth/jwks')
      .set('If-None-Match', String(first.headers['etag']));
    expect(again.status).toBe(304);
  });

  it('can be fetched by a library over HTTP', async () => {
    const keys = createRemoteJWKSet(new URL('/api/auth/oauth/jwks', app.url));
    await expect(jwtVerify(String((await exchange()).body.id_token), keys)).resolves.toBeDefined();
  });
});

describe('the metadata of OpenID Connect Discovery 1.0', () => {
  const PATH = '/.well-known/openid-configuration';

  // @openid discovery 3 @openid discovery 4 @rp-initiated logout 2.1
  it('is the metadata of RFC 8414 with the fields of OpenID Connect', async () => {
    const { body } = await request(app.server).get(PATH);
    expect(body).toMatchObject({
      issuer: 'https://base.example.com',
      jwks_uri: 'https://base.example.com/api/auth/oauth/jwks',
      userinfo_endpoint: 'https://api.example.com/userinfo',
      end_session_endpoint: 'https://auth.example.com/auth/logout',
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
      subject_types_supported: ['public', 'pairwise'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    expect((body as { scopes_supported: string[] }).scopes_supported).toEqual(
      expect.arrayContaining(['openid', 'profile', 'email']),
    );
    expect((await request(app.server).get('/.well-known/oauth-authorization-server')).body).toEqual(body);
  });

  it('is absent without keys, like the key set', async () => {
    for (const path of [PATH, '/api/auth/oauth/jwks']) {
      const answer = await request(off.server).get(path);
      expect([answer.status, answer.body.error]).toEqual([404, 'not_found']);
    }
    const { body } = await request(off.server).get('/.well-known/oauth-authorization-server');
    for (const name of ['jwks_uri', 'userinfo_endpoint', 'claims_supported'])
      expect(body).not.toHaveProperty(name);
    expect((body as { scopes_supported: string[] }).scopes_supported).not.toContain('openid');
  });
});
