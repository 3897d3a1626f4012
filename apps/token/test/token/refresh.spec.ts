import request from 'supertest';
import type { TestClient } from '#test/support/fixture.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp();

const refresh = (token: string, who: TestClient = app.ours) =>
  request(app.server)
    .post('/api/auth/oauth/refreshToken')
    .set('Authorization', `Bearer ${token}`)
    .send({ grant_type: 'refresh_token', ...who });

describe('POST /api/auth/oauth/refreshToken', () => {
  // @deviation D7
  it('exchanges a Bearer refresh token for a new pair (specification 4.3)', async () => {
    const first = await app.pair();
    const answer = await refresh(first.refresh_token);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^sat_/),
      refresh_token: expect.stringMatching(/^srt_/),
      token_type: 'Bearer',
      expires_in: 1800,
      scope: 'profile:read',
    });
    expect(answer.body.access_token).not.toBe(first.access_token);
    expect(answer.body.refresh_token).not.toBe(first.refresh_token);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  });

  // @rfc 6749 6
  it('accepts the refresh token in the body, as form and as JSON, and the client by Basic', async () => {
    const { refresh_token } = await app.pair();
    const path = '/api/auth/oauth/refreshToken';
    const form = await request(app.server)
      .post(path)
      .type('form')
      .send({ grant_type: 'refresh_token', refresh_token, ...app.ours });
    const json = await request(app.server)
      .post(path)
      .send({ grant_type: 'refresh_token', refresh_token: form.body.refresh_token, ...app.ours });
    const basic = await request(app.server)
      .post(path)
      .auth(app.ours.client_id, app.ours.client_secret)
      .send({ grant_type: 'refresh_token', refresh_token: json.body.refresh_token });
    expect([form.status, json.status, basic.status]).toEqual([200, 200, 200]);
  });

  // @deviation D11
  it('answers the same refresh token with the same pair inside the retry window', async () => {
    const { refresh_token } = await app.pair();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(answers.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1);
  });

  // @rfc 9700 2.2.2
  it('closes the window once the successor is used: then reuse revokes the grant (RFC 9700 4.14.2)', async () => {
    const { refresh_token: first } = await app.pair();
    const second = (await refresh(first)).body as Pair;
    const third = (await refresh(second.refresh_token)).body as Pair;
    const reuse = await refresh(first);
    expect([reuse.status, reuse.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(third.refresh_token)).body.error).toBe('invalid_grant');
  });

  // @rfc 6749 6
  it('refuses a refresh token of another client and changes nothing', async () => {
    const { refresh_token } = await app.pair();
    const stolen = await refresh(refresh_token, await app.client());
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  // @rfc 6749 3.2.1
  it('verifies the client secret', async () => {
    const { refresh_token } = await app.pair();
    const answer = await refresh(refresh_token, { ...app.ours, client_secret: 'scs_wrong' });
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('restores a grant that Redis has lost from its record', async () => {
    const { refresh_token } = await app.pair();
    await app.redis.flushdb();
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('does not restore a grant that is revoked in PostgreSQL', async () => {
    const { refresh_token } = await app.pair();
    await app.redis.flushdb();
    await app.records.revoke(app.grantIdOf(refresh_token));
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant');
  });

  it('accepts a later generation than the stored one after Redis has lost a rotation', async () => {
    const first = await app.pair();
    const key = `grant:${app.grantIdOf(first.refresh_token)}`;
    const before = await app.redis.hgetall(key);
    const second = (await refresh(first.refresh_token)).body as Pair;
    await app.redis.hset(key, before);
    const third = await refresh(second.refresh_token);
    expect(third.status).toBe(200);
    expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('records the revocation after reuse in PostgreSQL too', async () => {
    const first = await app.pair();
    const second = (await refresh(first.refresh_token)).body as Pair;
    await refresh(second.refresh_token);
    await refresh(first.refresh_token);
    expect(await app.records.find(app.grantIdOf(first.refresh_token))).toMatchObject({
      revokedAt: expect.any(Date),
    });
  });
});

describe('with a retry window of 0', () => {
  const strict = useTokenApp({ RETRY_WINDOW: 0 });

  // @deviation D11
  it('accepts one of many concurrent refreshes, and treats the others as reuse', async () => {
    const { refresh_token } = await strict.pair();
    const body = { grant_type: 'refresh_token', refresh_token, ...strict.ours };
    const answers = await Promise.all(Array.from({ length: 10 }, () => strict.post('refreshToken', body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
