import { FIELD } from '#grants/grant.scripts.js';
import { granted, useGrantEnvironment } from './grant-environment.js';

const JKT = 'a'.repeat(43);
const OTHER = 'b'.repeat(43);

const world = useGrantEnvironment({ scope: 'profile:read bookings:read bookings:write' });

const refresh = (
  token: string,
  { jkt = null, scope = null }: { jkt?: string | null; scope?: string | null } = {},
) => world.engine.refresh(token, { clientId: world.clientId, jkt, scope, resources: null });

describe('a grant bound to a DPoP key (RFC 9449)', () => {
  // @rfc 9449 6
  it('has tokens that are valid only with that key', async () => {
    const { pair } = await world.active(JKT);
    expect(pair.type).toBe('DPoP');
    expect((await world.engine.introspect(pair.accessToken, JKT)).outcome).toBe('active');
    expect((await world.engine.introspect(pair.accessToken, OTHER)).outcome).toBe('key_mismatch');
    expect((await world.engine.introspect(pair.accessToken, null)).outcome).toBe('key_mismatch');
  });

  it('is refreshed only with that key, and a refused refresh changes nothing', async () => {
    const { pair } = await world.active(JKT);
    expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
    expect((await refresh(pair.refreshToken)).outcome).toBe('key_mismatch');
    const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
    expect(next.pair.type).toBe('DPoP');
    expect((await world.engine.introspect(next.pair.accessToken, JKT)).outcome).toBe('active');
  });

  it('is restored with its key, which the token contains', async () => {
    const { pair } = await world.active(JKT);
    await world.fixture.redis.flushdb();
    expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
    const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
    expect((await world.engine.introspect(next.pair.accessToken, null)).outcome).toBe('key_mismatch');
  });

  // @deviation D24
  it('can be introspected without the key (RFC 7662) while Redis has the grant', async () => {
    const { pair } = await world.active(JKT);
    expect(await world.engine.introspectWithoutProof(pair.accessToken)).toMatchObject({
      outcome: 'active',
      grant: { jkt: JKT },
    });
    await world.fixture.redis.flushdb();
    expect((await world.engine.introspectWithoutProof(pair.accessToken)).outcome).toBe('key_mismatch');
  });

  it('is refused when the key in Redis differs from the key in the token', async () => {
    const key = async (stored: string, grantId: string) =>
      world.fixture.redis.hset(`grant:${grantId}`, FIELD.jkt, stored);
    const [bound, bearer] = [await world.active(JKT), await world.active()];
    for (const [stored, outcome] of [
      ['', 'key_mismatch'],
      [OTHER, 'key_mismatch'],
      [JKT, 'active'],
    ] as const) {
      await key(stored, bound.grantId);
      expect((await world.engine.introspect(bound.pair.accessToken, JKT)).outcome).toBe(outcome);
      expect((await world.engine.introspectWithoutProof(bound.pair.accessToken)).outcome).toBe(outcome);
    }
    await key(JKT, bearer.grantId);
    for (const proved of [null, JKT])
      expect((await world.engine.introspect(bearer.pair.accessToken, proved)).outcome).toBe('key_mismatch');
    expect((await world.engine.introspectWithoutProof(bearer.pair.accessToken)).outcome).toBe('key_mismatch');
  });

  it('gets its key back when Redis has lost the redemption that bound it', async () => {
    const { code, grantId } = await world.pending();
    const before = await world.fixture.redis.dumpBuffer(`grant:${grantId}`);
    const { pair } = granted(await world.redeem(code, JKT));
    await world.fixture.redis.restore(`grant:${grantId}`, 0, before, 'REPLACE');
    expect((await world.engine.introspect(pair.accessToken, JKT)).outcome).toBe('active');
    expect(await world.engine.introspectWithoutProof(pair.accessToken)).toMatchObject({
      token: { jkt: JKT },
    });
    expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
    expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('granted');
  });

  it('is redeemed only with the key of the authorization request (dpop_jkt, 10)', async () => {
    const { code } = await world.pending(null, JKT);
    expect((await world.redeem(code, null)).outcome).toBe('key_mismatch');
    expect((await world.redeem(code, OTHER)).outcome).toBe('key_mismatch');
    expect((await world.redeem(code, JKT)).outcome).toBe('granted');
  });

  it('is bound by its redemption only: a proof at refresh does not bind a bearer grant', async () => {
    const { pair } = await world.active();
    expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('key_unexpected');
    const next = granted(await refresh(pair.refreshToken));
    expect([next.pair.type, next.grant.generation]).toEqual(['Bearer', 2]);
    expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('key_unexpected');
    expect((await refresh(next.pair.refreshToken)).outcome).toBe('granted');
  });

  it('checks client, revocation and generation before the key, and the key before the scope', async () => {
    const { pair, grantId } = await world.active(JKT);
    const refreshAs = async (clientId = world.clientId) => {
      const renewal = { clientId, jkt: OTHER, scope: 'admin', resources: null };
      return (await world.engine.refresh(pair.refreshToken, renewal)).outcome;
    };
    expect(await refreshAs(world.otherClientId)).toBe('other_client');
    expect(await refreshAs()).toBe('key_mismatch');
    expect((await refresh(pair.refreshToken, { jkt: JKT, scope: 'admin' })).outcome).toBe('scope_exceeded');
    const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
    expect(await refreshAs()).toBe('key_mismatch');
    granted(await refresh(next.pair.refreshToken, { jkt: JKT }));
    expect(await refreshAs()).toBe('refresh_token_reused');
    expect(await world.fixture.records.find(grantId)).toMatchObject({ revokedAt: expect.any(Date) });
    expect(await refreshAs()).toBe('revoked');
  });
});

describe('a refresh with a narrower scope (RFC 6749 6)', () => {
  it('returns an access token of that scope, and the next refresh returns the whole scope again', async () => {
    const { pair } = await world.active();
    const narrow = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
    expect(narrow.pair.scope).toBe('bookings:read');
    const scopeOf = async (token: string) => {
      const answer = await world.engine.introspect(token, null);
      return answer.outcome === 'active' ? answer.scope : answer.outcome;
    };
    expect(await scopeOf(narrow.pair.accessToken)).toBe('bookings:read');
    const whole = granted(await refresh(narrow.pair.refreshToken));
    expect(whole.pair.scope).toBe('profile:read bookings:read bookings:write');
    // The narrow token stays valid, and keeps its scope.
    expect(await scopeOf(narrow.pair.accessToken)).toBe('bookings:read');
    expect(await scopeOf(whole.pair.accessToken)).toBe('profile:read bookings:read bookings:write');
  });

  it('gets the same answer inside the retry window', async () => {
    const { pair } = await world.active();
    const first = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
    const again = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
    expect(again.pair).toEqual(first.pair);
  });

  it('treats the same scopes in another order as the whole scope', async () => {
    const { pair } = await world.active();
    const { pair: next } = granted(
      await refresh(pair.refreshToken, { scope: 'bookings:write profile:read bookings:read' }),
    );
    expect(next.scope).toBe('profile:read bookings:read bookings:write');
  });

  it.each([
    'admin',
    'bookings',
    'profile:read admin',
    'profile:read bookings:read bookings:write x',
    '.*',
    '%S+',
  ])('refuses a scope that was not granted, and changes nothing: %s', async (scope) => {
    const { pair } = await world.active();
    expect((await refresh(pair.refreshToken, { scope })).outcome).toBe('scope_exceeded');
    expect((await refresh(pair.refreshToken)).outcome).toBe('granted');
  });

  it('keeps its scope when Redis has lost the grant', async () => {
    const { pair } = await world.active();
    const narrow = granted(await refresh(pair.refreshToken, { scope: 'bookings:write profile:read' }));
    await world.fixture.redis.flushdb();
    const scope = 'profile:read bookings:write';
    expect(await world.engine.introspect(narrow.pair.accessToken, null)).toMatchObject({ scope });
    expect((await refresh(narrow.pair.refreshToken)).outcome).toBe('granted');
    expect(await world.engine.introspect(narrow.pair.accessToken, null)).toMatchObject({ scope });
  });

  it('stores nothing in Redis', async () => {
    const { pair, grantId } = await world.active();
    const fields = async () => (await world.fixture.redis.hkeys(`grant:${grantId}`)).toSorted();
    const before = await fields();
    granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
    expect(await fields()).toEqual(before);
  });
});
