import { challengeOf } from '#oauth/pkce.js';
import type { Granted } from '#grants/grant.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { storedGrant } from '#test/support/stored.js';
import { granted, REDIRECT_URI, useGrantEnvironment } from './use-grant-environment.js';

const environment = useGrantEnvironment();

const refresh = (token: string) =>
  environment.engine.refresh(token, {
    clientId: environment.clientId,
    jkt: null,
    scope: null,
    resources: null,
  });
const pairOf = async (result: ReturnType<typeof refresh>) => granted(await result).pair;

describe('a grant that is revoked before it reaches Redis', () => {
  it('has a code that cannot be redeemed', async () => {
    const { code } = await environment.pending({ beforeRedis: (id) => environment.revocations.revoke(id) });
    const result = await environment.redeem(code);
    expect(result.outcome).toBe('revoked');
  });
});

describe('a code that is voided before it reaches Redis', () => {
  it('cannot be redeemed', async () => {
    const { clientId, engine } = environment;
    const { code } = await environment.pending({ beforeRedis: (id) => engine.voidCode(id, clientId) });
    const result = await environment.redeem(code);
    expect(result.outcome).toBe('revoked');
  });
});

describe('the grant engine', () => {
  // @rfc 6749 4.1.2
  it('expires a code after its lifetime plus the clock skew', async () => {
    const { code } = await environment.pending();
    environment.advance(DEFAULT_LIFETIMES.code + DEFAULT_LIFETIMES.clockSkew + 1);
    const result = await environment.redeem(code);
    expect(result.outcome).toBe('expired');
  });

  // @rfc 6749 4.1.2
  it('revokes the grant even if the code is replayed after its lifetime', async () => {
    const { code, pair } = await environment.active();
    environment.advance(DEFAULT_LIFETIMES.code * 10);
    const replay = await environment.redeem(code);
    expect(replay.outcome).toBe('code_replayed');
    expect((await refresh(pair.refreshToken)).outcome).toBe('revoked');
  });

  it('expires a code of a FAPI 2.0 client after 60 s, without an allowance for clock skew (5.3.2.1)', async () => {
    const exchange = {
      clientId: environment.clientId,
      redirectUri: REDIRECT_URI,
      challenge: null,
      jkt: null,
      resources: null,
    };
    const { code } = await environment.pending();
    environment.advance(61.5);
    expect((await environment.engine.redeem(code, { ...exchange, maxAge: 60 })).outcome).toBe('expired');
    expect((await environment.engine.redeem(code, exchange)).outcome).toBe('granted');
  });

  // @rfc 6749 7 @rfc 6750 5.3 @rfc 9449 11.2 @rfc 9700 4.14.2
  it('issues access tokens for 30 minutes, and with each refresh a refresh token for 90 days', async () => {
    const { pair } = await environment.active();
    expect(pair.expiresIn).toBe(1800);
    environment.advance(1800 + 6);
    expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('expired');
    environment.advance(89 * 86_400);
    const next = await pairOf(refresh(pair.refreshToken));
    environment.advance(89 * 86_400);
    const last = await pairOf(refresh(next.refreshToken));
    environment.advance(90 * 86_400 + 6);
    expect((await refresh(last.refreshToken)).outcome).toBe('expired');
  });

  it('issues an access token with its whole lifetime, even if the clock advances during the request', async () => {
    const { code } = await environment.pending();
    const answers: Granted[] = [];
    for (const send of [
      () => environment.redeem(code),
      () => refresh((answers[0] as Granted).pair.refreshToken),
    ]) {
      const response = send();
      // The clock advances while the request waits for Redis.
      environment.advance(1);
      answers.push(granted(await response));
    }
    expect(answers.map(({ pair }) => pair.expiresIn)).toEqual([1800, 1800]);
  });

  it('sets a TTL on active, revoked and pending grants in Redis', async () => {
    const { grantId } = await environment.active();
    expect(await environment.fixture.redis.ttl(`grant:${grantId}`)).toBeGreaterThan(0);
    await environment.revocations.revoke(grantId);
    expect(await environment.fixture.redis.ttl(`grant:${grantId}`)).toBeGreaterThan(0);
    const pending = await environment.pending();
    expect(await environment.fixture.redis.ttl(`grant:${pending.grantId}`)).toBeGreaterThan(0);
  });
});

describe('the grant engine after a loss of state in Redis', () => {
  it('accepts and stores a later generation in introspection and refresh', async () => {
    const { pair, grantId } = await environment.active();
    const before = await environment.fixture.redis.hgetall(`grant:${grantId}`);
    const second = await pairOf(refresh(pair.refreshToken));
    const third = await pairOf(refresh(second.refreshToken));
    await environment.fixture.redis.hset(`grant:${grantId}`, before);
    expect((await environment.engine.introspect(third.accessToken, null)).outcome).toBe('active');
    expect(await storedGrant(environment.fixture.redis, grantId)).toMatchObject({ generation: '3' });
    expect((await refresh(third.refreshToken)).outcome).toBe('granted');
  });

  it('activates a pending grant whose redemption was lost', async () => {
    const { code, grantId } = await environment.pending();
    const before = await environment.fixture.redis.hgetall(`grant:${grantId}`);
    const first = await pairOf(environment.redeem(code));
    await environment.fixture.redis.hset(`grant:${grantId}`, before);
    expect((await refresh(first.refreshToken)).outcome).toBe('granted');
  });

  it('restores a lost grant from PostgreSQL for a token, but not for a code', async () => {
    const { code } = await environment.pending();
    const { pair } = await environment.active();
    await environment.fixture.redis.flushdb();
    expect((await refresh(pair.refreshToken)).outcome).toBe('granted');
    const result = await environment.redeem(code);
    expect(result.outcome).toBe('expired');
  });

  it('restores a lost grant for a token even after a log-out has voided the code, which was redeemed', async () => {
    const { clientId, engine } = environment;
    const { code, pair, grantId } = await environment.active();
    await environment.fixture.redis.flushdb();
    expect(await engine.voidCode(grantId, clientId)).toBe(true);
    expect((await environment.redeem(code)).outcome).toBe('revoked');
    expect((await engine.introspect(pair.accessToken, null)).outcome).toBe('active');
    expect((await refresh(pair.refreshToken)).outcome).toBe('granted');
    expect((await environment.redeem(code)).outcome).toBe('code_replayed');
  });

  it('rejects the tokens of a grant that is not in PostgreSQL', async () => {
    const { pair, grantId } = await environment.active();
    await environment.fixture.redis.flushdb();
    await environment.fixture.sql('DELETE FROM grants WHERE id = $1', [grantId]);
    expect((await refresh(pair.refreshToken)).outcome).toBe('unknown');
    expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('unknown');
  });

  it('revokes the grant again when it reapplies a lost revocation', async () => {
    const { pair, grantId } = await environment.active();
    const before = await environment.fixture.redis.hgetall(`grant:${grantId}`);
    await environment.revocations.revoke(grantId);
    await environment.fixture.redis.hset(`grant:${grantId}`, before);
    await environment.revocations.apply([grantId]);
    expect((await refresh(pair.refreshToken)).outcome).toBe('revoked');
  });

  it('keeps a grant revoked if the revocation happened during the restore', async () => {
    for (let round = 0; round < 20; round++) {
      const { pair, grantId } = await environment.active();
      await environment.fixture.redis.del(`grant:${grantId}`);
      await Promise.all([
        environment.revocations.revoke(grantId),
        refresh(pair.refreshToken),
        environment.engine.introspect(pair.accessToken, null),
      ]);
      expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('revoked');
    }
  });
});

describe('stored and broadcast state', () => {
  // @rfc 6749 10.3
  it('does not contain a token or data from which a token could be derived', async () => {
    const { code, pair, grantId } = await environment.active();
    const handle = environment.fixture.codec.decode(code)?.handle ?? Buffer.alloc(0);
    const stored = JSON.stringify([
      grantId,
      await environment.fixture.redis.hgetall(`grant:${grantId}`),
      await environment.fixture.sql('SELECT * FROM grants WHERE id = $1', [grantId]),
    ]);
    for (const secret of [
      code,
      pair.accessToken,
      pair.refreshToken,
      handle.toString('base64url'),
      handle.toString('hex'),
      handle.toString('base64'),
    ]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('identifies a revoked grant by its id', async () => {
    const { grantId } = await environment.active();
    await environment.revocations.revoke(grantId);
    expect(environment.announced).toContain(grantId);
  });
});

describe('PKCE (RFC 7636)', () => {
  // @rfc 7636 4.2
  it('computes the challenge of appendix B', () => {
    expect(challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });
});

/** Bytes that MEMORY USAGE excludes: the entry among expiring keys, and two slots in half-empty hash tables. */
const EXPIRY_AND_SLOTS = 32 + 2 * 16;

describe('a live grant in Redis', () => {
  it.each([
    ['at most 300 bytes', null, null, 300],
    ['at most 350 bytes if it is bound to a DPoP key', 'A'.repeat(43), null, 350],
    ['at most 350 bytes if it is for one API', null, 'https://api.example.com', 350],
  ])('takes %s, even after a refresh', async (_, jkt, resources, most) => {
    const { pair, grantId } = await environment.active({ jkt, resources });
    const request = { clientId: environment.clientId, jkt, scope: null, resources: null };
    const bytes = async () =>
      Number(await environment.fixture.redis.memory('USAGE', `grant:${grantId}`)) + EXPIRY_AND_SLOTS;
    expect(await bytes()).toBeLessThanOrEqual(most);
    await environment.engine.refresh(pair.refreshToken, request);
    expect(await bytes()).toBeLessThanOrEqual(most);
  });
});

describe('a code issued before a failover of Redis', () => {
  it('is refused, because its redemption may have been lost', async () => {
    const { code, grantId } = await environment.pending();
    // A promoted replica has another replication id.
    await environment.fixture.redis.hset(`grant:${grantId}`, 'replication_id', '0'.repeat(40));
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    expect(environment.announced).not.toContain(grantId);
  });

  it('does not revoke the grant if the client has already redeemed it', async () => {
    const { code, grantId } = await environment.pending();
    const key = `grant:${grantId}`;
    const before = await environment.fixture.redis.dumpBuffer(key);
    const first = granted(await environment.redeem(code));
    await environment.fixture.redis.restore(key, 0, before, 'REPLACE');
    await environment.fixture.redis.hset(key, 'replication_id', '0'.repeat(40));
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    const request = { clientId: environment.clientId, jkt: null, scope: null, resources: null };
    expect((await environment.engine.refresh(first.pair.refreshToken, request)).outcome).toBe('granted');
    // The refresh has made the grant active again, so the code counts as replayed.
    expect((await environment.redeem(code)).outcome).toBe('code_replayed');
  });
});
