import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { type GrantRevoked, type IntrospectionReply, INVALIDATIONS, SUBJECTS } from '#messaging/contract.js';
import type { Pair } from '#test/support/tokens.js';
import { Introspector } from '#introspection/introspector.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { until } from '#test/support/until.js';
import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-cluster.js';
import { startTokenApp } from '../support/start-token-app.js';
import { useTokenApp } from '../support/use-token-app.js';
import { openReconcilerFixture, type ReconcilerFixture } from './reconciler-fixture.js';

const app = useTokenApp();

describe('revoke', () => {
  const revoke = (token: string, who: object = app.ours) => app.post('revoke', { token, ...who });
  const refresh = (refresh_token: string) =>
    app.post('refreshToken', { grant_type: 'refresh_token', refresh_token, ...app.ours });
  const active = async (token: string) =>
    (await app.ask<IntrospectionReply>('oauth.token.introspect', { token })).active;

  describe('POST /api/auth/oauth/revoke (RFC 7009)', () => {
    // @rfc 7009 2 @rfc 7009 2.1
    it.each(['access_token', 'refresh_token'] as const)(
      'revokes the whole grant of a token: %s',
      async (which) => {
        const tokens = await app.pair();
        const answer = await revoke(tokens[which]).type('form');
        expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([200, {}, 'no-store']);
        expect(await active(tokens.access_token)).toBe(false);
        expect((await refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');
        expect(await app.records.find(app.grantIdOf(tokens.access_token))).toMatchObject({
          revokedAt: expect.any(Date),
        });
      },
    );

    it('revokes the grant of an old, expired or restored token', async () => {
      const first = await app.pair();
      await refresh(first.refresh_token);
      await revoke(first.access_token);
      expect((await app.records.find(app.grantIdOf(first.access_token)))?.revokedAt).not.toBeNull();

      const second = await app.pair();
      const token = app.codec.decode(second.access_token);
      if (!token) throw new Error('not a token');
      await revoke(app.codec.encode({ ...token, expiry: 1 }));
      expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant');

      const third = await app.pair();
      await app.redis.flushdb();
      await revoke(third.refresh_token);
      expect((await refresh(third.refresh_token)).body.error).toBe('invalid_grant');
    });

    // @rfc 7009 2.2
    it('responds to an invalid token with status 200 (2.2)', async () => {
      const { refresh_token } = await app.pair();
      await revoke(refresh_token);
      for (const token of [
        refresh_token,
        'x',
        `srt_${randomBytes(63).toString('base64url')}`,
        await app.ourCode(),
        `eyJ${'x'.repeat(4_000)}`,
      ]) {
        expect((await revoke(token)).status).toBe(200);
      }
    });

    it('does not revoke the grant of a code', async () => {
      const code = await app.ourCode();
      await revoke(code);
      const answer = await app.post('token', app.redemption(code));
      expect(answer.status).toBe(200);
    });

    // @rfc 7009 2.1
    it('refuses a token of another client, and leaves the token valid (2.1)', async () => {
      const tokens = await app.pair();
      const answer = await revoke(tokens.refresh_token, await app.client());
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
      expect(await active(tokens.access_token)).toBe(true);
    });

    // @rfc 7009 2.1
    it('accepts a public client by its client_id, but not a confidential client without its secret', async () => {
      const open = await app.publicClient('com.example.pocket:/callback');
      const code = await app.code(open.client_id, app.userId, {
        redirectUri: 'com.example.pocket:/callback',
      });
      const body = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'com.example.pocket:/callback',
        ...open,
      };
      const { access_token } = (await app.post('token', body)).body as Pair;
      expect((await revoke(access_token, open)).status).toBe(200);
      expect(await active(access_token)).toBe(false);
      expect((await revoke(access_token, { client_id: app.ours.client_id })).status).toBe(401);
    });

    // @rfc 7009 2.1
    it.each(['access_token', 'refresh_token', 'some_token'])(
      'revokes the grant with any hint (2.1): %s',
      async (token_type_hint) => {
        const { access_token, refresh_token } = await app.pair();
        expect(
          (await app.post('revoke', { token: refresh_token, token_type_hint, ...app.ours })).status,
        ).toBe(200);
        expect(await active(access_token)).toBe(false);
      },
    );

    // @rfc 7009 2.2.1
    it('responds with 503 and Retry-After while Redis is unavailable, so that the client retries (2.2.1)', async () => {
      const cut = await startTokenApp({ REDIS_URL: 'redis://127.0.0.1:1' });
      try {
        const owner = await cut.client();
        const code = cut.codec.decode(await cut.code(owner.client_id, await cut.user()));
        if (!code) throw new Error('not a code');
        const expiry = Math.floor(Date.now() / 1000) + 60;
        const token = cut.codec.encode({ ...code, kind: 'refresh', generation: 1, expiry });
        const answer = await request(cut.server)
          .post('/api/auth/oauth/revoke')
          .send({ token, ...owner });
        expect([answer.status, answer.body.error]).toEqual([503, 'temporarily_unavailable']);
        expect(answer.headers['retry-after']).toBe('1');
        // The revocation is durable and will be applied to Redis later.
        expect(await cut.records.find(cut.grantIdOf(token))).toMatchObject({ revokedAt: expect.any(Date) });
      } finally {
        await cut.close();
      }
    });

    // @rfc 7009 2.1 @rfc 7009 2.2.1
    it('requires a token', async () => {
      expect((await app.post('revoke', app.ours)).body).toMatchObject({
        error: 'invalid_request',
        error_description: "the parameter 'token' is missing",
      });
    });

    // @reliability revoked-everywhere
    it('revokes the grant despite concurrent revocations and refreshes', async () => {
      const { refresh_token, access_token } = await app.pair();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 ? revoke(refresh_token) : refresh(refresh_token))),
      );
      expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
      expect(await active(access_token)).toBe(false);
    });
  });
});

describe('recorded revocation', () => {
  const PATIENCE_MS = 60_000;

  let connection: NatsConnection;
  let api: Introspector;

  beforeAll(async () => {
    connection = new NatsConnection({
      natsUrl: app.natsUrl,
      name: 'resource',
      invalidations: INVALIDATIONS,
    });
    await connection.open();
    api = new Introspector(connection, {});
  });

  afterAll(() => connection.close());

  /** Simulates a revocation whose process died between COMMIT and Redis, or lost the response to COMMIT. */
  const recordRevocation = (...ids: string[]) =>
    app.sql('UPDATE grants SET revoked_at = now() WHERE id = ANY($1)', [ids]);

  const refresh = ({ refresh_token }: Pair) =>
    app.post('token', { grant_type: 'refresh_token', refresh_token, ...app.ours });

  // @reliability replica-killed
  it('a recorded revocation ends all tokens of the grant, including cached tokens', async () => {
    const [pair, other] = [await app.pair(), await app.pair()];
    const [id, code] = [app.grantIdOf(pair.access_token), await app.ourCode()];
    expect(await api.introspect(pair.access_token)).not.toBeNull();
    const recorded = [id, app.grantIdOf(code)];
    const received = new Set<string>();
    const stop = app.hear(SUBJECTS.grantRevoked, (event) => received.add((event as GrantRevoked).grant_id));
    await app.settled();

    await recordRevocation(...recorded);
    await until('both are broadcast', PATIENCE_MS, () => recorded.every((grant) => received.has(grant)));
    stop();
    // After the pong, the broadcast has arrived.
    await connection.ping();
    expect(await api.introspect(pair.access_token)).toBeNull();
    expect((await refresh(pair)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await app.post('token', app.redemption(code))).body).toMatchObject({ error: 'invalid_grant' });
    expect(await api.introspect(other.access_token)).not.toBeNull();
  });

  it('a token whose grant PostgreSQL has lost can still be revoked (RFC 7009 2)', async () => {
    const pair = await app.pair();
    expect(await api.introspect(pair.access_token)).not.toBeNull();
    await app.sql('DELETE FROM grants WHERE id = $1', [app.grantIdOf(pair.access_token)]);
    const foreign = await app.post('revoke', { token: pair.refresh_token, ...(await app.client()) });
    expect(foreign.status).toBe(200);
    await connection.ping();
    expect(await api.introspect(pair.access_token)).not.toBeNull();

    const revoked = await app.revocation();
    expect((await app.post('revoke', { token: pair.refresh_token, ...app.ours })).status).toBe(200);
    await revoked.told;
    await connection.ping();
    expect(await api.introspect(pair.access_token)).toBeNull();
    expect((await refresh(pair)).body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('revocation full redis', () => {
  let redis: PrivateRedis;
  let fixture: ReconcilerFixture;

  beforeAll(async () => {
    redis = await startPrivateRedis(['maxmemory-policy noeviction']);
    fixture = await openReconcilerFixture({ redisUrl: redis.url });
    fixture.reconciler.onApplicationBootstrap();
  });

  afterAll(async () => {
    await fixture.close();
    await redis.close();
  });

  const mayUse = (memory: string) => redis.node.ask((client) => client.config('SET', 'maxmemory', memory));

  it('a revocation that a full Redis has rejected is applied as soon as Redis has room', async () => {
    const id = await fixture.grant();
    await mayUse('1mb');
    await fixture.recordRevocation(id);
    await fixture.failsAPass();
    expect(await fixture.statusOf(id)).toBeNull();
    await mayUse('0');
    await fixture.becomesRevoked(id);
  });
});
