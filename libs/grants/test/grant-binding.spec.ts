import fc from 'fast-check';
import { FIELD } from '#grants/grant-hash.js';
import { granted, useGrantEnvironment } from './use-grant-environment.js';
import { KEYS } from './grant-model.js';

describe('grant binding', () => {
  const JKT = 'A'.repeat(43);
  const OTHER = 'E'.repeat(43);

  const environment = useGrantEnvironment({ scope: 'profile:read bookings:read bookings:write' });

  const refresh = (
    token: string,
    { jkt = null, scope = null }: { jkt?: string | null; scope?: string | null } = {},
  ) => environment.engine.refresh(token, { clientId: environment.clientId, jkt, scope, resources: null });

  describe('a grant bound to a DPoP key (RFC 9449)', () => {
    // @rfc 9449 6
    it('has tokens that are valid only with that key', async () => {
      const { pair } = await environment.active({ jkt: JKT });
      expect(pair.type).toBe('DPoP');
      expect((await environment.engine.introspect(pair.accessToken, JKT)).outcome).toBe('active');
      expect((await environment.engine.introspect(pair.accessToken, OTHER)).outcome).toBe('key_mismatch');
      expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('key_mismatch');
    });

    it('is refreshed only with that key, and a refused refresh changes nothing', async () => {
      const { pair } = await environment.active({ jkt: JKT });
      expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
      expect((await refresh(pair.refreshToken)).outcome).toBe('key_mismatch');
      const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
      expect(next.pair.type).toBe('DPoP');
      expect((await environment.engine.introspect(next.pair.accessToken, JKT)).outcome).toBe('active');
    });

    it('is restored with its key, which the token contains', async () => {
      const { pair } = await environment.active({ jkt: JKT });
      await environment.fixture.redis.flushdb();
      expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
      const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
      expect((await environment.engine.introspect(next.pair.accessToken, null)).outcome).toBe('key_mismatch');
    });

    it('can be introspected without a proof (RFC 7662), even if Redis has lost the grant', async () => {
      const { pair } = await environment.active({ jkt: JKT });
      const introspect = () => environment.engine.introspectWithoutProof(pair.accessToken);
      expect(await introspect()).toMatchObject({ outcome: 'active', token: { jkt: JKT } });
      await environment.fixture.redis.flushdb();
      expect(await introspect()).toMatchObject({
        outcome: 'active',
        token: { jkt: JKT },
        grant: { jkt: JKT },
      });
    });

    it('accepts a token only with the key in the token, regardless of the key in Redis', async () => {
      const { engine, fixture } = environment;
      const [bound, bearer] = [await environment.active({ jkt: JKT }), await environment.active()];
      for (const stored of ['', OTHER]) {
        await fixture.redis.hset(`grant:${bound.grantId}`, FIELD.jkt, stored);
        for (const jkt of [null, OTHER]) {
          expect((await engine.introspect(bound.pair.accessToken, jkt)).outcome).toBe('key_mismatch');
          expect((await refresh(bound.pair.refreshToken, { jkt })).outcome).toBe('key_mismatch');
        }
        expect(await engine.introspectWithoutProof(bound.pair.accessToken)).toMatchObject({
          token: { jkt: JKT },
        });
        expect((await refresh(bound.pair.refreshToken, { jkt: JKT })).outcome).toBe('key_mismatch');
      }
      await fixture.redis.hset(`grant:${bearer.grantId}`, FIELD.jkt, JKT);
      expect((await refresh(bearer.pair.refreshToken)).outcome).toBe('key_mismatch');
      expect((await refresh(bearer.pair.refreshToken, { jkt: JKT })).outcome).toBe('key_unexpected');
    });

    it('is bound again if Redis has lost the redemption that bound it', async () => {
      const { code, grantId } = await environment.pending();
      const before = await environment.fixture.redis.dumpBuffer(`grant:${grantId}`);
      const { pair } = granted(await environment.redeem(code, JKT));
      await environment.fixture.redis.restore(`grant:${grantId}`, 0, before, 'REPLACE');
      expect((await environment.engine.introspect(pair.accessToken, JKT)).outcome).toBe('active');
      expect(await environment.engine.introspectWithoutProof(pair.accessToken)).toMatchObject({
        token: { jkt: JKT },
      });
      expect((await refresh(pair.refreshToken, { jkt: OTHER })).outcome).toBe('key_mismatch');
      expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('granted');
    });

    it('is redeemed only with the key of the authorization request (dpop_jkt, section 10)', async () => {
      const { code } = await environment.pending({ jkt: JKT });
      expect((await environment.redeem(code, null)).outcome).toBe('key_mismatch');
      expect((await environment.redeem(code, OTHER)).outcome).toBe('key_mismatch');
      expect((await environment.redeem(code, JKT)).outcome).toBe('granted');
    });

    it('is bound only at redemption: a proof at refresh does not bind a bearer grant', async () => {
      const { pair } = await environment.active();
      expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('key_unexpected');
      const next = granted(await refresh(pair.refreshToken));
      expect([next.pair.type, next.grant.generation]).toEqual(['Bearer', 2]);
      expect((await refresh(pair.refreshToken, { jkt: JKT })).outcome).toBe('key_unexpected');
      expect((await refresh(next.pair.refreshToken)).outcome).toBe('granted');
    });

    it('is checked for client, revocation, generation, key and scope, in this order', async () => {
      const { pair, grantId } = await environment.active({ jkt: JKT });
      const refreshAs = async (clientId = environment.clientId) => {
        const request = { clientId, jkt: OTHER, scope: 'admin', resources: null };
        return (await environment.engine.refresh(pair.refreshToken, request)).outcome;
      };
      expect(await refreshAs(environment.otherClientId)).toBe('other_client');
      expect(await refreshAs()).toBe('key_mismatch');
      expect((await refresh(pair.refreshToken, { jkt: JKT, scope: 'admin' })).outcome).toBe(
        'scope_not_granted',
      );
      const next = granted(await refresh(pair.refreshToken, { jkt: JKT }));
      expect(await refreshAs()).toBe('key_mismatch');
      granted(await refresh(next.pair.refreshToken, { jkt: JKT }));
      expect(await refreshAs()).toBe('refresh_token_reused');
      expect(await environment.fixture.records.find(grantId)).toMatchObject({ revokedAt: expect.any(Date) });
      expect(await refreshAs()).toBe('revoked');
    });
  });

  describe('a refresh with a narrower scope (RFC 6749 6)', () => {
    it('returns an access token of that scope, and the next refresh returns the whole scope again', async () => {
      const { pair } = await environment.active();
      const narrow = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
      expect(narrow.pair.scope).toBe('bookings:read');
      const scopeOf = async (token: string) => {
        const answer = await environment.engine.introspect(token, null);
        return answer.outcome === 'active' ? answer.scope : answer.outcome;
      };
      expect(await scopeOf(narrow.pair.accessToken)).toBe('bookings:read');
      const whole = granted(await refresh(narrow.pair.refreshToken));
      expect(whole.pair.scope).toBe('profile:read bookings:read bookings:write');
      // The token with the narrower scope stays valid and keeps its scope.
      expect(await scopeOf(narrow.pair.accessToken)).toBe('bookings:read');
      expect(await scopeOf(whole.pair.accessToken)).toBe('profile:read bookings:read bookings:write');
    });

    it('gets the same response again within the retry window', async () => {
      const { pair } = await environment.active();
      const first = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
      const again = granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
      expect(again.pair).toEqual(first.pair);
    });

    it('returns the whole scope if all scopes are requested in another order', async () => {
      const { pair } = await environment.active();
      const { pair: next } = granted(
        await refresh(pair.refreshToken, { scope: 'bookings:write profile:read bookings:read' }),
      );
      expect(next.scope).toBe('profile:read bookings:read bookings:write');
    });

    it.each([
      ['profile:read admin', 'profile:read'],
      ['x bookings:write bookings:read profile:read', 'profile:read bookings:read bookings:write'],
    ])('leaves out scopes that were not granted: %s', async (scope, expected) => {
      const { pair } = await environment.active();
      const { pair: next } = granted(await refresh(pair.refreshToken, { scope }));
      expect(next.scope).toBe(expected);
      expect(await environment.engine.introspect(next.accessToken, null)).toMatchObject({ scope: expected });
    });

    it.each(['admin', 'bookings', '.*', '%S+', 'x y'])(
      'is refused without effect if no scope was granted: %s',
      async (scope) => {
        const { pair } = await environment.active();
        expect((await refresh(pair.refreshToken, { scope })).outcome).toBe('scope_not_granted');
        expect((await refresh(pair.refreshToken)).outcome).toBe('granted');
      },
    );

    it('keeps its scope when Redis has lost the grant', async () => {
      const { pair } = await environment.active();
      const narrow = granted(await refresh(pair.refreshToken, { scope: 'bookings:write profile:read' }));
      await environment.fixture.redis.flushdb();
      const scope = 'profile:read bookings:write';
      expect(await environment.engine.introspect(narrow.pair.accessToken, null)).toMatchObject({ scope });
      expect((await refresh(narrow.pair.refreshToken)).outcome).toBe('granted');
      expect(await environment.engine.introspect(narrow.pair.accessToken, null)).toMatchObject({ scope });
    });

    it('does not store the narrower scope in Redis', async () => {
      const { pair, grantId } = await environment.active();
      const fields = async () => (await environment.fixture.redis.hkeys(`grant:${grantId}`)).toSorted();
      const before = await fields();
      granted(await refresh(pair.refreshToken, { scope: 'bookings:read' }));
      expect(await fields()).toEqual(before);
    });
  });
});

describe('binding losses', () => {
  const environment = useGrantEnvironment();

  type Step =
    | {
        readonly do: 'refresh';
        /** Position in the list of all refresh tokens, from the end. */
        readonly back: number;
        readonly hasKeys: boolean;
        readonly keepsRefreshToken: boolean;
        readonly jkt: string | null;
      }
    | { readonly do: 'introspect'; readonly back: number }
    | { readonly do: 'copy' | 'fall back' | 'lose' };

  const jkt = fc.constantFrom(null, ...KEYS);
  const back = fc.nat({ max: 3 });
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('refresh' as const),
          back,
          hasKeys: fc.boolean(),
          keepsRefreshToken: fc.boolean(),
          jkt,
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('introspect' as const), back }) },
      {
        weight: 3,
        arbitrary: fc.constantFrom('copy' as const, 'fall back' as const, 'lose' as const).map((does) => ({
          do: does,
        })),
      },
    ),
    { minLength: 1, maxLength: 20, size: 'max' },
  );

  interface Issued {
    readonly refreshTokens: string[];
    readonly accessTokens: { readonly text: string; readonly jkt: string | null }[];
  }

  const keyOf = (token: string) => environment.fixture.codec.decode(token)?.jkt ?? null;

  async function refreshAndCheck(issued: Issued, step: Extract<Step, { do: 'refresh' }>): Promise<void> {
    const { hasKeys: clientHasKeys, keepsRefreshToken, jkt: proved } = step;
    const presented = issued.refreshTokens.at(-1 - step.back) ?? issued.refreshTokens[0] ?? '';
    const bound = keyOf(presented);
    const { clientId } = environment;
    const request = { clientId, clientHasKeys, keepsRefreshToken, jkt: proved, scope: null, resources: null };
    const answer = await environment.engine.refresh(presented, request);
    if (answer.outcome !== 'granted') return;
    const { pair } = answer;
    if (bound !== null) expect(proved).not.toBeNull();
    if (!clientHasKeys) expect([proved, keyOf(pair.refreshToken)]).toEqual([bound, bound]);
    expect([pair.type, keyOf(pair.accessToken)]).toEqual([proved === null ? 'Bearer' : 'DPoP', proved]);
    issued.refreshTokens.push(pair.refreshToken);
    issued.accessTokens.push({ text: pair.accessToken, jkt: proved });
  }

  describe('a loss of data in Redis', () => {
    it('never removes or changes the binding of a token', async () => {
      const { engine, fixture } = environment;
      await fc.assert(
        fc.asyncProperty(jkt, steps, async (first, history) => {
          const { code, grantId } = await environment.pending();
          const key = `grant:${grantId}`;
          let copy = await fixture.redis.dumpBuffer(key);
          const { pair } = granted(await environment.redeem(code, first));
          const issued: Issued = {
            refreshTokens: [pair.refreshToken],
            accessTokens: [{ text: pair.accessToken, jkt: first }],
          };
          for (const step of history) {
            if (step.do === 'refresh') await refreshAndCheck(issued, step);
            else if (step.do === 'introspect')
              await engine.introspectWithoutProof(issued.accessTokens.at(-1 - step.back)?.text ?? '');
            else if (step.do === 'copy') copy = (await fixture.redis.dumpBuffer(key)) ?? copy;
            else if (step.do === 'lose') await fixture.redis.del(key);
            else await fixture.redis.restore(key, 0, copy, 'REPLACE');
          }
          for (const { text, jkt: bound } of issued.accessTokens) {
            for (const proved of [null, ...KEYS]) {
              const { outcome } = await engine.introspect(text, proved);
              if (bound !== null && proved !== bound) expect(outcome).toBe('key_mismatch');
              else expect(['active', 'revoked']).toContain(outcome);
            }
            const found = await engine.introspectWithoutProof(text);
            if (found.outcome === 'active') expect(found.token.jkt).toBe(bound);
          }
          // A grant that was bound from the start has only bound tokens.
          if (first === null) return;
          expect(issued.accessTokens.map((token) => token.jkt)).not.toContain(null);
          expect(issued.refreshTokens.map(keyOf)).not.toContain(null);
        }),
        { numRuns: 60 },
      );
    });
  });
});
