import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { FIELD } from '#grants/grant-hash.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { DpopKey } from '#test/support/keys.js';
import type { Pair } from '#test/support/tokens.js';
import { type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp();

describe('introspection', () => {
  let server: { client_id: string; client_secret: string };

  beforeAll(async () => {
    const { secret, hash } = generateClientSecret();
    const { id } = await app.resourceServers.create('Bookings API', hash);
    server = { client_id: id, client_secret: secret };
  });

  const introspect = (token: string, who: object = server) => app.post('introspect', { token, ...who });

  describe('POST /api/auth/oauth/introspect (RFC 7662)', () => {
    // @rfc 7662 2.1 @rfc 7662 4
    it('describes an access token to a resource server', async () => {
      const { access_token } = await app.pair();
      const answer = await introspect(access_token).type('form');
      expect(answer.body).toEqual({
        active: true,
        iss: 'https://base.example.com',
        grant_id: app.grantIdOf(access_token),
        client_id: app.ours.client_id,
        sub: String(app.userId),
        scope: 'profile:read',
        exp: expect.any(Number),
        token_type: 'Bearer',
      });
      expect(answer.headers['cache-control']).toBe('no-store');
      const basic = await request(app.server)
        .post('/api/auth/oauth/introspect')
        .auth(server.client_id, server.client_secret)
        .send({ token: access_token });
      expect(basic.body.active).toBe(true);
    });

    // @rfc 7662 2.2
    it('returns active: false for a refresh token, so that no API accepts it as an access token', async () => {
      const { refresh_token } = await app.pair();
      expect((await introspect(refresh_token)).body).toEqual({ active: false });
    });

    // @rfc 7662 2.2
    it('returns only active: false for an invalid token (2.2)', async () => {
      const revoked = await app.pair();
      await app.post('revoke', { token: revoked.access_token, ...app.ours });
      const code = await app.ourCode();
      for (const token of [
        revoked.access_token,
        revoked.refresh_token,
        code,
        'x',
        `sat_${randomBytes(63).toString('base64url')}`,
        // A client may send an ID token by mistake. The guard of an API would treat an error response as an outage.
        `eyJ${'x'.repeat(4_000)}`,
        'é\u0000',
      ]) {
        const answer = await introspect(token);
        expect([answer.status, answer.body]).toEqual([200, { active: false }]);
      }
    });

    // @rfc 7662 2.2
    it('returns active: false for an expired token of a live grant (2.2)', async () => {
      const token = app.codec.decode((await app.pair()).access_token);
      if (!token) throw new Error('not a token');
      const expired = app.codec.encode({ ...token, expiry: Math.floor(Date.now() / 1000) - 60 });
      expect((await introspect(expired)).body).toEqual({ active: false });
    });

    // @rfc 7662 2.1
    it.each(['access_token', 'refresh_token', 'some_token'])(
      'finds the token with any hint (2.1): %s',
      async (token_type_hint) => {
        const { access_token } = await app.pair();
        expect(
          (await app.post('introspect', { token: access_token, token_type_hint, ...server })).body,
        ).toMatchObject({
          active: true,
        });
      },
    );

    // @rfc 9449 6.2
    it('returns the key of a bound token and the token type DPoP (RFC 9449 6.2)', async () => {
      const key = await DpopKey.generate();
      const code = await app.ourCode();
      const answer = await app
        .post('token', app.redemption(code))
        .set('DPoP', await key.proof('POST', 'https://base.example.com/api/auth/oauth/token'));
      const { access_token } = answer.body as Pair;
      expect((await introspect(access_token)).body).toMatchObject({
        active: true,
        token_type: 'DPoP',
        cnf: { jkt: key.jkt },
      });
      // The token contains its key, so no state of Redis can make the token a bearer token.
      const grant = `grant:${app.grantIdOf(access_token)}`;
      for (const change of [
        () => app.redis.hset(grant, FIELD.jkt, ''),
        () => app.redis.hset(grant, FIELD.jkt, 'A'.repeat(43)),
        () => app.redis.del(grant),
      ]) {
        await change();
        expect((await introspect(access_token)).body).toMatchObject({ active: true, cnf: { jkt: key.jkt } });
      }
    });

    // @rfc 7662 2.1 @rfc 7662 2.3
    it('rejects callers that are not registered resource servers (2.1)', async () => {
      const { access_token } = await app.pair();
      const callers = [
        app.ours,
        { client_id: app.ours.client_id },
        { ...server, client_secret: 'scs_wrong' },
        { client_id: server.client_id },
        { client_id: 'rs_nobody', client_secret: 'x' },
      ];
      for (const who of callers) {
        const answer = await introspect(access_token, who);
        expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      }
      expect((await app.post('introspect', { token: access_token })).body.error).toBe('invalid_request');
      expect((await app.post('introspect', server)).body.error).toBe('invalid_request');
    });

    // @rfc 7662 2.1
    it('does not authenticate resource servers as clients of other endpoints', async () => {
      const { refresh_token } = await app.pair();
      const answer = await app.post('refreshToken', {
        grant_type: 'refresh_token',
        refresh_token,
        ...server,
      });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    });
  });
});

describe('resource server responder', () => {
  const introspect = (token: string) => app.ask<IntrospectionReply>(SUBJECTS.introspect, { token });

  describe('oauth.token.introspect over NATS', () => {
    it('describes a live access token', async () => {
      expect(await introspect((await app.pair()).access_token)).toEqual({
        active: true,
        grant_id: expect.stringMatching(/^[\w-]{43}$/),
        client_id: app.ours.client_id,
        sub: String(app.userId),
        scope: 'profile:read',
        exp: expect.any(Number),
      });
    });

    it('reports an access token of the previous generation as active', async () => {
      const { access_token, refresh_token } = await app.pair();
      await app.post('refreshToken', { grant_type: 'refresh_token', refresh_token, ...app.ours });
      expect(await introspect(access_token)).toMatchObject({ active: true });
    });

    it('restores a lost grant from an access token', async () => {
      const { access_token } = await app.pair();
      await app.redis.flushdb();
      expect(await introspect(access_token)).toMatchObject({ active: true, client_id: app.ours.client_id });
    });

    it('returns active: false without a reason for any other token', async () => {
      const { refresh_token } = await app.pair();
      const code = await app.ourCode();
      for (const token of [refresh_token, code, 'x', '', `sat_${randomBytes(63).toString('base64url')}`])
        expect(await introspect(token)).toEqual({ active: false });
    });

    it('reports a bound token as active only with its key, and returns the key', async () => {
      const key = await DpopKey.generate();
      const answer = await app
        .post('token', app.redemption(await app.ourCode()))
        .set('DPoP', await key.proof('POST', 'https://base.example.com/api/auth/oauth/token'));
      const { access_token: token } = answer.body as Pair;
      const ask = (jkt?: unknown) => app.ask<IntrospectionReply>(SUBJECTS.introspect, { token, jkt });
      expect(await ask(key.jkt)).toMatchObject({ active: true, cnf: { jkt: key.jkt } });
      for (const jkt of [undefined, 'A'.repeat(43)])
        expect([jkt, await ask(jkt)]).toEqual([jkt, { active: false }]);
      // A request whose jkt is not a thumbprint is malformed and gets an error.
      for (const jkt of [null, '', 7, [key.jkt], { jkt: key.jkt }])
        expect([jkt, await ask(jkt)]).toEqual([jkt, undefined]);
      await app.redis.hset(`grant:${app.grantIdOf(token)}`, FIELD.jkt, '');
      expect(await ask()).toEqual({ active: false });
      expect(await ask(key.jkt)).toMatchObject({ active: true, cnf: { jkt: key.jkt } });
    });

    // @rfc 6750 3.1 @deviation D20
    it('rejects forged and expired tokens, and does not look up the grant of an expired token', async () => {
      const seen: string[] = [];
      const endMonitor = await monitorRedis(app.redisUrl, (command) => seen.push(command.join(' ')));
      const expired = app.codec.encode({
        kind: 'access',
        handle: randomBytes(16),
        generation: 1,
        expiry: Math.floor(Date.now() / 1000) - 60,
        scopeMask: 0,
        audience: null,
        jkt: null,
      });
      for (let i = 0; i < 20; i++)
        expect(await introspect(`sat_${randomBytes(63).toString('base64url')}`)).toEqual({ active: false });
      expect(await introspect(expired)).toEqual({ active: false });
      const { access_token } = await app.pair();
      const { grant_id } = (await introspect(access_token)) as { grant_id: string };
      // The monitor receives commands in order, so it has received all earlier commands when it receives this command.
      const end = `the end ${randomBytes(8).toString('hex')}`;
      while (!seen.some((command) => command.includes(end))) await app.redis.exists(end);
      endMonitor();
      const grantCommands = seen.filter(
        (command) => command.includes('grant:') && command.startsWith('evalsha'),
      );
      expect(grantCommands.filter((command) => command.includes(grant_id)).length).toBeGreaterThan(0);
      expect(grantCommands.filter((command) => command.includes(app.grantIdOf(expired)))).toEqual([]);
    });

    it('reports a token as inactive after the broadcast of its revocation', async () => {
      const broadcasts: unknown[] = [];
      const stop = app.hear(SUBJECTS.grantRevoked, (event) => broadcasts.push(event));
      const redemption = app.redemption(await app.ourCode());
      const { access_token } = (await app.post('token', redemption)).body as Pair;
      const before = (await introspect(access_token)) as { grant_id: string };
      await app.post('token', redemption);
      await app.settled();
      // The reconciler may repeat the broadcast.
      expect(new Set(broadcasts.map((event) => JSON.stringify(event)))).toEqual(
        new Set([JSON.stringify({ grant_id: before.grant_id })]),
      );
      expect(await introspect(access_token)).toEqual({ active: false });
      stop();
    });
  });
});
