import { randomBytes } from 'node:crypto';
import { FIELD } from '#grants/grant-hash.js';
import { type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { DpopKey } from '#test/support/dpop-key.js';
import { monitorRedis } from '#test/support/redis-monitor.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp();

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
