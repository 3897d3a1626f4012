import { randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import type { TestClient } from '#test/support/fixture.js';
import { refusedByPreflight } from '#test/support/preflight.js';
import { AMBIGUOUS_HOSTS, exchange } from '#test/support/raw-http.js';
import type { Pair } from '#test/support/tokens.js';
import { SUBJECTS, type UserUpsertReply } from '#messaging/contract.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

describe('me', () => {
  const SCOPE = 'scope="profile:read"';
  const METADATA = 'resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/v2/me"';
  const DPOP = `DPoP ${SCOPE}, algs="${DPOP_ALGORITHMS.join(' ')}", ${METADATA}`;

  let app: ResourceApp;
  let client: TestClient;
  let userId: number;
  let pair: Pair;

  beforeAll(async () => {
    app = await startResourceApp();
    client = await app.client();
    userId = await app.user();
    pair = await app.pair(client, userId);
  });

  afterAll(() => app.close());

  const me = (authorization?: string): Test => {
    const sending = request(app.server).get('/v2/me');
    return authorization === undefined ? sending : sending.set('Authorization', authorization);
  };

  describe('GET /v2/me', () => {
    // @rfc 6750 2.1
    it('returns the profile of the token’s user (docs/specification.md)', async () => {
      const user = await app.users.find(userId);
      const answer = await me(`Bearer ${pair.access_token}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        status: 'success',
        data: {
          id: userId,
          username: user?.username,
          email: user?.email,
          name: 'Ada Lovelace',
          avatarUrl: null,
          bio: null,
          timeFormat: expect.any(Number),
          defaultScheduleId: null,
          weekStart: expect.any(String),
          timeZone: expect.any(String),
          organizationId: null,
        },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    it('accepts the scheme in any letter case (RFC 9110 11.1)', async () => {
      expect((await me(`bearer ${pair.access_token}`)).status).toBe(200);
    });

    // @deviation D22
    it('ignores a token in the URL if there is one in the header (known deviation, RFC 6750 3.1)', async () => {
      const sending = request(app.server).get(`/v2/me?access_token=${pair.refresh_token}`);
      expect((await sending.set('Authorization', `Bearer ${pair.access_token}`)).status).toBe(200);
    });

    // @rfc 6750 2.1
    it('accepts several spaces after the scheme, for a new and for a cached token', async () => {
      const { access_token } = await app.pair(client, userId);
      for (const scheme of ['Bearer  ', 'bearer   ', 'Bearer ', 'Bearer     '])
        expect((await me(scheme + access_token)).status).toBe(200);
    });

    it('needs no NATS request for a cached token', async () => {
      await me(`Bearer ${pair.access_token}`);
      const requests: unknown[] = [];
      // Excludes events of the audit trail, which arrive at any time and have longer subjects.
      const stop = app.hear('oauth.*.*', (message) => requests.push(message));
      await app.settled();
      for (let i = 0; i < 20; i++) expect((await me(`Bearer ${pair.access_token}`)).status).toBe(200);
      await app.settled();
      stop();
      expect(requests).toEqual([]);
    });

    it('sends one NATS request for concurrent requests with one unknown token', async () => {
      const { access_token } = await app.pair(client, userId);
      const requests: unknown[] = [];
      const stop = app.hear('oauth.token.introspect', (message) => requests.push(message));
      await app.settled();
      const answers = await Promise.all(Array.from({ length: 50 }, () => me(`Bearer ${access_token}`)));
      await app.settled();
      stop();
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(requests).toHaveLength(1);
    });

    // @rfc 6750 3.1 @rfc 7662 4
    it('refuses a cached token immediately after its grant is revoked', async () => {
      const { access_token, code } = await app.pair(client, userId);
      expect((await me(`Bearer ${access_token}`)).status).toBe(200);
      await app.replay(client, code);
      await app.settled();
      expect((await me(`Bearer ${access_token}`)).status).toBe(401);
    });

    it('fetches the profile again after a change to the user', async () => {
      await me(`Bearer ${pair.access_token}`);
      const requests: unknown[] = [];
      const stop = app.hear('oauth.user.profile', (message) => requests.push(message));
      await app.announce('oauth.user.changed', { user_id: userId });
      await app.settled();
      expect((await me(`Bearer ${pair.access_token}`)).status).toBe(200);
      await app.settled();
      stop();
      expect(requests).toHaveLength(1);
    });

    it('refuses a token whose user does not exist, even if its grant is active (RFC 6750 3.1)', async () => {
      const gone = await app.user();
      const { access_token } = await app.pair(client, gone);
      expect((await me(`Bearer ${access_token}`)).status).toBe(200);
      // The trigger rejects the deletion of a user with active grants.
      await app.sql('ALTER TABLE users DISABLE TRIGGER users_end_grants_first');
      await app.sql('DELETE FROM users WHERE id = $1', [gone]);
      await app.sql('ALTER TABLE users ENABLE TRIGGER users_end_grants_first');
      await app.announce('oauth.user.changed', { user_id: gone });
      await app.settled();
      const answer = await me(`Bearer ${access_token}`);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
      expect(answer.body).toMatchObject({
        error: { message: expect.stringContaining('no longer exists') },
      });
    });
  });

  describe('an error of GET /v2/me', () => {
    type Case = [rule: string, send: () => Test, status: number, code: string, challenge: string | undefined];
    const invalid = `Bearer error="invalid_token", ${SCOPE}, ${METADATA}, ${DPOP}`;
    const missing = `Bearer ${SCOPE}, ${METADATA}, ${DPOP}`;
    const malformed = `Bearer error="invalid_request", ${SCOPE}, ${METADATA}, ${DPOP}`;

    const cases: Case[] = [
      // @rfc 6750 3 @rfc 9449 7.2 @rfc 9728 5.1
      [
        'no token, with a challenge without an error code (RFC 6750 3.1)',
        () => me(),
        401,
        'UNAUTHORIZED',
        missing,
      ],
      // @rfc 6750 3.1
      [
        'Basic instead of Bearer',
        () => request(app.server).get('/v2/me').auth('a', 'b'),
        401,
        'UNAUTHORIZED',
        missing,
      ],
      // @rfc 6750 2.2 @rfc 9700 4.3.2
      [
        'a token in the URL only',
        () => request(app.server).get(`/v2/me?access_token=${pair.access_token}`),
        401,
        'UNAUTHORIZED',
        missing,
      ],
      // @rfc 6750 2.2
      [
        'a token in a body only',
        () => request(app.server).get('/v2/me').type('form').send(`access_token=${pair.access_token}`),
        401,
        'UNAUTHORIZED',
        missing,
      ],
      // @rfc 6750 3.1
      ['a refresh token', () => me(`Bearer ${pair.refresh_token}`), 401, 'UNAUTHORIZED', invalid],
      ['a malformed token', () => me('Bearer abc'), 401, 'UNAUTHORIZED', invalid],
      // @rfc 6750 3.1 @rfc 9449 7.2
      [
        'a forged token',
        () => me(`Bearer sat_${randomBytes(63).toString('base64url')}`),
        401,
        'UNAUTHORIZED',
        invalid,
      ],
      ['an over-long token', () => me(`Bearer ${'x'.repeat(5000)}`), 401, 'UNAUTHORIZED', invalid],
      ['over-long padding', () => me(`Bearer x${'='.repeat(5000)}`), 401, 'UNAUTHORIZED', invalid],
      ['a token that is not a b64token', () => me('Bearer <script>'), 401, 'UNAUTHORIZED', invalid],
      // @rfc 6750 2
      ['more than one token in the header', () => me('Bearer a b'), 400, 'BAD_REQUEST', malformed],
      // @rfc 6750 3.1
      ['Bearer without a token', () => me('Bearer'), 400, 'BAD_REQUEST', malformed],
      [
        'a wrong method',
        () => request(app.server).post('/v2/me').send({}),
        405,
        'METHOD_NOT_ALLOWED',
        undefined,
      ],
      ['an unknown path', () => request(app.server).get('/v2/you'), 404, 'NOT_FOUND', undefined],
      [
        'a path that cannot be decoded',
        () => request(app.server).get('/v2/%ff'),
        404,
        'NOT_FOUND',
        undefined,
      ],
    ];

    it.each(cases)('is the response to %s', async (_rule, sending, status, code, challenge) => {
      const answer = await sending();
      expect(answer.body).toEqual({
        status: 'error',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        path: expect.stringMatching(/^\//),
        error: { code, message: expect.stringMatching(/\w/) },
      });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([status, challenge]);
      expect(answer.headers['error-reference']).toMatch(/^[\w-]{12}$/);
      expect(answer.text).not.toContain(pair.access_token);
    });

    it('names the allowed method in Allow if the method is wrong', async () => {
      expect((await request(app.server).post('/v2/me').send({})).headers.allow).toBe('GET');
    });

    it('is 503 with Retry-After, but only while the token app is down', async () => {
      await app.stopTokenApp();
      const unknown = `Bearer sat_${randomBytes(63).toString('base64url')}`;
      const answer = await me(unknown);
      expect([answer.status, answer.headers['retry-after'], answer.body.error.code]).toEqual([
        503,
        '1',
        'SERVICE_UNAVAILABLE',
      ]);
      await app.startTokenApp();
      expect((await me(unknown)).status).toBe(401);
      expect((await me(`Bearer ${pair.access_token}`)).status).toBe(200);
    });
  });

  describe('the scope check of GET /v2/me', () => {
    // @rfc 6749 7 @rfc 6750 3.1
    it('refuses a token without profile:read with 403 insufficient_scope and the missing scope (RFC 6750 3.1)', async () => {
      const { access_token } = await app.pair(client, userId, 'bookings:read bookings:write');
      const answer = await me(`Bearer ${access_token}`);
      expect(answer.status).toBe(403);
      const [bearer] = (answer.headers['www-authenticate'] ?? '').split(', DPoP ');
      expect(bearer).toBe(`Bearer error="insufficient_scope", ${SCOPE}, ${METADATA}`);
      expect(answer.body).toMatchObject({ status: 'error', error: { code: 'FORBIDDEN' } });
      expect(answer.body).not.toHaveProperty('data');
    });

    it('accepts profile:read among other scopes', async () => {
      const { access_token } = await app.pair(client, userId, 'bookings:read profile:read');
      expect((await me(`Bearer ${access_token}`)).status).toBe(200);
    });

    it('refuses a scope that only starts with profile:read', async () => {
      const { access_token } = await app.pair(client, userId, 'profile:readable');
      expect((await me(`Bearer ${access_token}`)).status).toBe(403);
    });

    // @rfc 9700 2.3
    it('refuses a token that was refreshed without the scope, but still accepts the token with the scope', async () => {
      const wide = await app.pair(client, userId, 'bookings:read profile:read');
      const narrow = await app.narrowed(client, wide.refresh_token, 'bookings:read');
      expect((await me(`Bearer ${narrow.access_token}`)).status).toBe(403);
      expect((await me(`Bearer ${wide.access_token}`)).status).toBe(200);
    });
  });

  it('the CORS preflight of GET /v2/me accepts every header that browser clients send', async () => {
    expect(await refusedByPreflight(app.server, 'GET', '/v2/me')).toEqual([]);
  });

  it.each(AMBIGUOUS_HOSTS)(
    'a request with %s gets 400, and the connection is closed (RFC 9112 3.2)',
    async (_name, head) => {
      const token = `Authorization: Bearer ${pair.access_token}\r\n`;
      const answer = await exchange(app.url, `GET /v2/me HTTP/1.1\r\n${head}${token}\r\n`);
      const [answered = '', json = ''] = answer.split('\r\n\r\n');
      expect(answered).toMatch(/^HTTP\/1.1 400 [^]*connection: close/i);
      expect(answered).toMatch(/^x-content-type-options: nosniff\r$/im);
      expect(JSON.parse(json)).toMatchObject({
        status: 'error',
        error: {
          code: 'BAD_REQUEST',
          message: 'the request must have one Host header',
        },
      });
    },
  );
});

describe('user links', () => {
  let app: ResourceApp;

  beforeAll(async () => {
    app = await startResourceApp({ LOGIN_LINK_BY_EMAIL: 'true' });
  });
  afterAll(() => app.close());

  const upsert = (message: object) => app.ask<UserUpsertReply>(SUBJECTS.userUpsert, message);

  describe('oauth.user.upsert with LOGIN_LINK_BY_EMAIL', () => {
    it('links a user without an identity only if the message has link_by_email and email_verified', async () => {
      const id = await app.user();
      const [user] = (await app.sql('SELECT email FROM users WHERE id = $1', [id])) as { email: string }[];
      const issuer = 'https://product.example.com';
      const message = { issuer, email: user?.email, updated_at: '2026-01-01T00:00:00Z' };
      expect(await upsert({ ...message, external_id: 'other' })).toMatchObject({ status: 'created' });
      const link = { ...message, external_id: 'linked', link_by_email: true };
      for (const email_verified of [undefined, false])
        expect(await upsert({ ...link, email_verified })).toEqual({
          status: 'invalid',
          problems: ['link_by_email needs email_verified: true'],
        });
      expect(await upsert({ ...link, email_verified: true })).toMatchObject({
        status: 'updated',
        user_id: id,
      });
    });
  });
});
