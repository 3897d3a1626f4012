import request from 'supertest';
import type { TestClient } from '#test/support/fixture.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';
import { type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';

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

  // @rfc 6750 2.1
  it('accepts several spaces after Bearer', async () => {
    expect((await refresh(`  ${(await app.pair()).refresh_token}`)).status).toBe(200);
  });

  // @rfc 6749 6
  it('accepts the refresh token in the body, as a form or JSON, and authenticates the client by Basic', async () => {
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
  it('returns the same pair for the same refresh token inside the retry window', async () => {
    const { refresh_token } = await app.pair();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(answers.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1);
  });

  // @rfc 9700 2.2.2
  it('revokes the grant if a token is reused after the use of its successor (RFC 9700 4.14.2)', async () => {
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

  it('restores a grant that Redis has lost', async () => {
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

  it('accepts a later generation than the stored generation after Redis has lost a rotation', async () => {
    const first = await app.pair();
    const key = `grant:${app.grantIdOf(first.refresh_token)}`;
    const before = await app.redis.hgetall(key);
    const second = (await refresh(first.refresh_token)).body as Pair;
    await app.redis.hset(key, before);
    const third = await refresh(second.refresh_token);
    expect(third.status).toBe(200);
    expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('records in PostgreSQL that reuse has revoked the grant', async () => {
    const first = await app.pair();
    const second = (await refresh(first.refresh_token)).body as Pair;
    await refresh(second.refresh_token);
    await refresh(first.refresh_token);
    expect(await app.records.find(app.grantIdOf(first.refresh_token))).toMatchObject({
      revokedAt: expect.any(Date),
    });
  });
});

describe('the refresh endpoint with a retry window of 0', () => {
  const strict = useTokenApp({ RETRY_WINDOW: 0 });

  // @deviation D11 @reliability race-refresh
  it('accepts only one of many concurrent refreshes', async () => {
    const { refresh_token } = await strict.pair();
    const body = { grant_type: 'refresh_token', refresh_token, ...strict.ours };
    const answers = await Promise.all(Array.from({ length: 10 }, () => strict.post('refreshToken', body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

interface Answer {
  access_token: string;
  refresh_token: string;
  scope: string;
  error?: string;
}

const GRANTED = 'profile:read bookings:read bookings:write';

const granted = () => app.pair({ scope: GRANTED });

const scopeOf = async (token: string) =>
  (await app.ask<IntrospectionReply & { scope?: string }>(SUBJECTS.introspect, { token })).scope;

describe.each(['token', 'refreshToken'])('a refresh with a scope at /%s (RFC 6749 6)', (path) => {
  const refresh = async (refreshToken: string, scope?: string) => {
    const refreshBody = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return app
      .post(path, { ...refreshBody, ...(scope !== undefined && { scope }), ...app.ours })
      .type('form');
  };

  it.each([
    ['profile:read', 'profile:read'],
    ['bookings:write profile:read', 'profile:read bookings:write'],
    ['bookings:write,profile:read', 'profile:read bookings:write'],
    [' profile:read  profile:read,', 'profile:read'],
  ])('honours a narrower scope: %j', async (requested, expected) => {
    const answer = (await refresh((await granted()).refresh_token, requested)).body as Answer;
    expect(answer.scope).toBe(expected);
    expect(await scopeOf(answer.access_token)).toBe(expected);
  });

  // @rfc 6749 6
  it.each([undefined, '', GRANTED])(
    'returns the whole granted scope for an absent, empty or equal scope: %j',
    async (requested) => {
      const answer = (await refresh((await granted()).refresh_token, requested)).body as Answer;
      expect(answer.scope).toBe(GRANTED);
      expect(await scopeOf(answer.access_token)).toBe(GRANTED);
    },
  );

  // @rfc 6749 6
  it('narrows the access token, but not the grant', async () => {
    const narrow = (await refresh((await granted()).refresh_token, 'profile:read')).body as Answer;
    const wide = (await refresh(narrow.refresh_token)).body as Answer;
    expect(wide.scope).toBe(GRANTED);
    expect(await scopeOf(narrow.access_token)).toBe('profile:read');
  });

  // @rfc 6749 6
  it.each(['profile:read schedules:read', 'offline_access profile:read'])(
    'leaves out scopes that were not granted: %j',
    async (requested) => {
      const answer = (await refresh((await granted()).refresh_token, requested)).body as Answer;
      expect([answer.scope, await scopeOf(answer.access_token)]).toEqual(['profile:read', 'profile:read']);
    },
  );

  // @rfc 6749 6
  it.each(['schedules:write', 'profile', 'profile:reading', 'a"b', 'profile:read a\\b'])(
    'refuses a malformed scope, or one of which nothing was granted, and changes nothing: %j',
    async (requested) => {
      const { refresh_token } = await granted();
      const refused = await refresh(refresh_token, requested);
      expect([refused.status, (refused.body as Answer).error]).toEqual([400, 'invalid_scope']);
      expect((await refresh(refresh_token)).status).toBe(200);
    },
  );

  describe('inside the retry window', () => {
    const answered = async (token: string, scope?: string) => (await refresh(token, scope)).body as Answer;

    // @rfc 6749 6
    it.each(['schedules:read', 'admin schedules:read'])(
      'refuses scopes that were never granted, and changes nothing: %j',
      async (requested) => {
        const { refresh_token } = await granted();
        const first = await answered(refresh_token);
        const refused = await refresh(refresh_token, requested);
        expect([refused.status, (refused.body as Answer).error]).toEqual([400, 'invalid_scope']);
        expect({ ...(await answered(refresh_token)), expires_in: 0 }).toEqual({ ...first, expires_in: 0 });
        expect((await refresh(first.refresh_token)).status).toBe(200);
      },
    );

    it('honours a narrower scope, and leaves the earlier access token unchanged', async () => {
      const { refresh_token } = await granted();
      const first = await answered(refresh_token);
      const narrow = await answered(refresh_token, 'bookings:read');
      expect([narrow.scope, narrow.refresh_token]).toEqual(['bookings:read', first.refresh_token]);
      expect(await scopeOf(narrow.access_token)).toBe('bookings:read');
      expect(await scopeOf(first.access_token)).toBe(GRANTED);
      expect((await answered(refresh_token, 'bookings:read')).access_token).toBe(narrow.access_token);
      expect((await answered(first.refresh_token)).scope).toBe(GRANTED);
      expect(await scopeOf(narrow.access_token)).toBe('bookings:read');
    });

    it('returns the whole scope after a narrower response, in another access token', async () => {
      const { refresh_token } = await granted();
      const narrow = await answered(refresh_token, 'bookings:read');
      const wide = await answered(refresh_token);
      expect([wide.scope, wide.refresh_token]).toEqual([GRANTED, narrow.refresh_token]);
      expect(await scopeOf(wide.access_token)).toBe(GRANTED);
      expect(await scopeOf(narrow.access_token)).toBe('bookings:read');
    });

    it('honours another narrower scope, and leaves each earlier access token unchanged', async () => {
      const { refresh_token } = await granted();
      const issued = new Map<string, string>();
      for (const requested of ['profile:read bookings:read', 'profile:read', 'bookings:write']) {
        const answer = await answered(refresh_token, requested);
        expect(answer.scope).toBe(requested);
        issued.set(requested, answer.access_token);
      }
      const reordered = await answered(refresh_token, 'bookings:read profile:read');
      expect(reordered.access_token).toBe(issued.get('profile:read bookings:read'));
      for (const [scope, token] of issued) expect(await scopeOf(token)).toBe(scope);
      expect((await answered(reordered.refresh_token)).scope).toBe(GRANTED);
    });

    it('gives each concurrent request its own scope and the same refresh token', async () => {
      const { refresh_token } = await granted();
      const requested = Array.from(
        { length: 20 },
        (_, n) => [undefined, 'profile:read', 'bookings:read'][n % 3],
      );
      const answers = await Promise.all(requested.map((scope) => answered(refresh_token, scope)));
      expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1);
      for (const [n, answer] of answers.entries())
        expect(await scopeOf(answer.access_token)).toBe(requested[n] ?? GRANTED);
    });
  });

  it('refuses an over-long or repeated scope with invalid_request', async () => {
    const { refresh_token } = await granted();
    const long = await refresh(refresh_token, 'x'.repeat(1001));
    expect([long.status, (long.body as Answer).error]).toEqual([400, 'invalid_request']);
    const repeated = await app.post(path, 'grant_type=refresh_token&scope=a&scope=b');
    expect([repeated.status, (repeated.body as Answer).error]).toEqual([400, 'invalid_request']);
  });

  // @rfc 9700 4.14.2
  it('returns the scope that the user granted, even if the client is now registered for other scopes', async () => {
    const { refresh_token } = await granted();
    await app.sql(`UPDATE clients SET scopes = '{schedules:read}' WHERE client_id = $1`, [
      app.ours.client_id,
    ]);
    await app.announce(SUBJECTS.clientChanged, { client_id: app.ours.client_id });
    await app.settled();
    expect(((await refresh(refresh_token)).body as Answer).scope).toBe(GRANTED);
  });
});
