import { granted, useGrantEnvironment } from './use-grant-environment.js';
import { KEYS } from './grant-model.js';

describe('kept token', () => {
  const KEY = 'A'.repeat(43);
  const environment = useGrantEnvironment();

  const refresh = (
    token: string,
    { keepsRefreshToken = true, jkt = KEY }: { keepsRefreshToken?: boolean; jkt?: string | null } = {},
  ) =>
    environment.engine.refresh(token, {
      clientId: environment.clientId,
      jkt,
      scope: null,
      resources: null,
      keepsRefreshToken,
    });

  async function bound(jkt: string | null = KEY) {
    const { code, grantId } = await environment.pending();
    return { grantId, ...granted(await environment.redeem(code, jkt)).pair };
  }

  describe('a refresh token that does not rotate', () => {
    it('can be used repeatedly, each time for a new access token with the full lifetime', async () => {
      const { refreshToken } = await bound();
      const answers = [];
      for (let count = 0; count < 3; count++) {
        environment.advance(600);
        answers.push(granted(await refresh(refreshToken)));
      }
      expect(answers.map(({ pair }) => pair.refreshToken)).toEqual([
        refreshToken,
        refreshToken,
        refreshToken,
      ]);
      expect(answers.map(({ grant, transition }) => [grant.generation, transition])).toEqual([
        [1, 'refreshed'],
        [1, 'refreshed'],
        [1, 'refreshed'],
      ]);
      expect(new Set(answers.map(({ pair }) => pair.accessToken)).size).toBe(3);
      const times = answers.map(({ grant }) => grant.rotatedAt);
      expect(times).toEqual([times[0], (times[0] ?? 0) + 600_000, (times[0] ?? 0) + 1_200_000]);
      for (const { pair } of answers) {
        expect(pair.expiresIn).toBe(1800);
        expect((await environment.engine.introspect(pair.accessToken, KEY)).outcome).toBe('active');
      }
    });

    it('is refused without its key, which changes nothing', async () => {
      const { refreshToken } = await bound();
      for (const jkt of [null, 'E'.repeat(43)])
        expect((await refresh(refreshToken, { jkt })).outcome).toBe('key_mismatch');
      expect((await refresh(refreshToken)).outcome).toBe('granted');
    });

    it('is refused after the revocation of its grant, and after its original expiry', async () => {
      const [revoked, old] = [await bound(), await bound()];
      await environment.revocations.revoke(revoked.grantId);
      expect((await refresh(revoked.refreshToken)).outcome).toBe('revoked');
      environment.advance(45 * 86_400);
      expect((await refresh(old.refreshToken)).outcome).toBe('granted');
      environment.advance(46 * 86_400);
      expect((await refresh(old.refreshToken)).outcome).toBe('expired');
    });

    it('restores the grant with the generation of the token if Redis loses the grant', async () => {
      const { refreshToken } = await bound();
      const second = granted(await refresh(refreshToken, { keepsRefreshToken: false })).pair.refreshToken;
      await environment.fixture.redis.flushdb();
      const restored = granted(await refresh(second));
      expect([restored.pair.refreshToken, restored.grant.generation]).toEqual([second, 2]);
    });

    it('advances the stored generation to its own if Redis lost a rotation', async () => {
      const { refreshToken, grantId } = await bound();
      const second = granted(await refresh(refreshToken, { keepsRefreshToken: false })).pair.refreshToken;
      environment.advance(31);
      await environment.fixture.redis.hset(`grant:${grantId}`, 'g', 1);
      expect(granted(await refresh(second)).grant.generation).toBe(2);
      expect((await refresh(refreshToken)).outcome).toBe('refresh_token_reused');
    });
  });

  describe('the rotation setting of a client', () => {
    it('keeps the latest token when turned off, and still detects the reuse of an earlier token', async () => {
      const { refreshToken } = await bound();
      const second = granted(await refresh(refreshToken, { keepsRefreshToken: false })).pair.refreshToken;
      expect(granted(await refresh(second)).pair.refreshToken).toBe(second);
      environment.advance(31);
      expect((await refresh(refreshToken)).outcome).toBe('refresh_token_reused');
      expect((await refresh(second)).outcome).toBe('revoked');
    });

    it('returns the rotated pair to a retry when turned off within the retry window', async () => {
      const { refreshToken } = await bound();
      const first = granted(await refresh(refreshToken, { keepsRefreshToken: false }));
      environment.advance(1);
      const again = granted(await refresh(refreshToken));
      expect([again.pair.refreshToken, again.transition]).toEqual([first.pair.refreshToken, 'retried']);
      expect(again.pair.accessToken).toBe(first.pair.accessToken);
    });

    it('rotates the kept token when turned on, and then detects its reuse', async () => {
      const { refreshToken } = await bound();
      granted(await refresh(refreshToken));
      const next = granted(await refresh(refreshToken, { keepsRefreshToken: false })).pair.refreshToken;
      expect(next).not.toBe(refreshToken);
      environment.advance(31);
      expect((await refresh(refreshToken, { keepsRefreshToken: false })).outcome).toBe(
        'refresh_token_reused',
      );
    });

    it('does not apply to a bearer token: its reuse is detected', async () => {
      const { refreshToken } = await bound(null);
      const next = granted(await refresh(refreshToken, { jkt: null })).pair.refreshToken;
      expect(next).not.toBe(refreshToken);
      environment.advance(31);
      expect((await refresh(refreshToken, { jkt: null })).outcome).toBe('refresh_token_reused');
    });
  });
});

describe('key authenticated client', () => {
  const [FIRST, SECOND, THIRD] = KEYS;

  const environment = useGrantEnvironment({ scope: 'profile:read bookings:read' });

  interface Settings {
    readonly jkt?: string | null;
    readonly hasKeys?: boolean;
    readonly keepsRefreshToken?: boolean;
    readonly scope?: string | null;
  }

  const refresh = (
    token: string,
    { jkt = null, hasKeys = true, keepsRefreshToken = false, scope = null }: Settings = {},
  ) => {
    const { clientId } = environment;
    const request = { clientId, clientHasKeys: hasKeys, jkt, scope, resources: null, keepsRefreshToken };
    return environment.engine.refresh(token, request);
  };

  const outcomeOf = async (token: string, jkt: string | null) =>
    (await environment.engine.introspect(token, jkt)).outcome;
  const provedKey = async (token: string) => {
    const answer = await environment.engine.introspectWithoutProof(token);
    return answer.outcome === 'active' ? answer.token.jkt : answer.outcome;
  };

  // @rfc 9449 5
  describe.each([
    ['rotates', false],
    ['keeps', true],
  ])('a bound grant whose client has keys and %s its refresh token', (_name, keepsRefreshToken) => {
    it('is refreshed with any key, to which the new access token is bound', async () => {
      const { pair } = await environment.active({ jkt: FIRST });
      const issued = [{ jkt: FIRST, token: pair.accessToken }];
      let { refreshToken } = pair;
      for (const jkt of [SECOND, SECOND, THIRD, FIRST]) {
        environment.advance(60);
        const next = granted(await refresh(refreshToken, { jkt, keepsRefreshToken })).pair;
        expect([next.type, next.refreshToken === refreshToken]).toEqual(['DPoP', keepsRefreshToken]);
        issued.push({ jkt, token: next.accessToken });
        refreshToken = next.refreshToken;
      }
      // Tokens of earlier keys stay valid until they expire.
      for (const { jkt, token } of issued) {
        expect(await provedKey(token)).toBe(jkt);
        for (const other of [null, ...KEYS])
          expect(await outcomeOf(token, other)).toBe(other === jkt ? 'active' : 'key_mismatch');
      }
      environment.advance(1800);
      expect(await outcomeOf(issued[0]?.token ?? '', FIRST)).toBe('expired');
    });

    it('is refused without a proof, which changes nothing', async () => {
      const { pair, grantId } = await environment.active({ jkt: FIRST });
      const { refreshToken } = granted(
        await refresh(pair.refreshToken, { jkt: SECOND, keepsRefreshToken }),
      ).pair;
      const stored = await environment.fixture.redis.hgetall(`grant:${grantId}`);
      for (const token of [pair.refreshToken, refreshToken])
        expect((await refresh(token, { keepsRefreshToken })).outcome).toBe('key_mismatch');
      expect(await environment.fixture.redis.hgetall(`grant:${grantId}`)).toEqual(stored);
    });

    it('is restored as bound after Redis has lost it, with any key but not without a key', async () => {
      const { pair, grantId } = await environment.active({ jkt: FIRST });
      await environment.fixture.redis.flushdb();
      expect((await refresh(pair.refreshToken, { keepsRefreshToken })).outcome).toBe('key_mismatch');
      expect(await environment.fixture.redis.exists(`grant:${grantId}`)).toBe(0);
      const next = granted(await refresh(pair.refreshToken, { jkt: SECOND, keepsRefreshToken })).pair;
      expect(await provedKey(next.accessToken)).toBe(SECOND);
      expect(await outcomeOf(pair.accessToken, FIRST)).toBe('active');
      expect((await refresh(next.refreshToken, { keepsRefreshToken })).outcome).toBe('key_mismatch');
    });

    it('needs the key of its refresh token once the client has secrets', async () => {
      const { pair } = await environment.active({ jkt: FIRST });
      const { refreshToken } = granted(
        await refresh(pair.refreshToken, { jkt: SECOND, keepsRefreshToken }),
      ).pair;
      const bound = keepsRefreshToken ? FIRST : SECOND;
      for (const jkt of [null, ...KEYS].filter((key) => key !== bound))
        expect((await refresh(refreshToken, { jkt, hasKeys: false, keepsRefreshToken })).outcome).toBe(
          'key_mismatch',
        );
      expect((await refresh(refreshToken, { jkt: bound, hasKeys: false, keepsRefreshToken })).outcome).toBe(
        'granted',
      );
    });
  });

  describe('a retry within the window by a client that authenticates with keys', () => {
    it('gets the same pair for the same key, and only another access token for another key', async () => {
      const { pair } = await environment.active({ jkt: FIRST });
      const first = granted(await refresh(pair.refreshToken, { jkt: SECOND }));
      environment.advance(1);
      const same = granted(await refresh(pair.refreshToken, { jkt: SECOND }));
      expect([same.pair.accessToken, same.pair.refreshToken]).toEqual([
        first.pair.accessToken,
        first.pair.refreshToken,
      ]);
      // The client lost the response together with its key.
      const other = granted(await refresh(pair.refreshToken, { jkt: THIRD }));
      expect([other.transition, other.pair.refreshToken]).toEqual(['retried', first.pair.refreshToken]);
      expect(await provedKey(other.pair.accessToken)).toBe(THIRD);
      expect((await refresh(pair.refreshToken)).outcome).toBe('key_mismatch');
      // Using the successor closes the window for every key.
      granted(await refresh(first.pair.refreshToken, { jkt: THIRD }));
      expect((await refresh(pair.refreshToken, { jkt: SECOND })).outcome).toBe('refresh_token_reused');
    });

    it('is refused once the client has secrets, if the successor is bound to another key', async () => {
      const { pair } = await environment.active({ jkt: FIRST });
      granted(await refresh(pair.refreshToken, { jkt: SECOND }));
      for (const jkt of KEYS)
        expect((await refresh(pair.refreshToken, { jkt, hasKeys: false })).outcome).toBe('key_mismatch');
    });
  });

  describe('a bearer grant of a client that authenticates with keys', () => {
    it('stays a bearer grant while no key is proved', async () => {
      const { pair } = await environment.active();
      const next = granted(await refresh(pair.refreshToken));
      expect([next.pair.type, next.grant.jkt]).toEqual(['Bearer', null]);
    });

    it('is bound by the first refresh with a proof, and never returns to bearer tokens', async () => {
      const { pair } = await environment.active();
      const bound = granted(await refresh(pair.refreshToken, { jkt: FIRST, keepsRefreshToken: true }));
      expect([bound.pair.type, bound.grant.generation]).toEqual(['DPoP', 2]);
      expect(await outcomeOf(bound.pair.accessToken, null)).toBe('key_mismatch');
      for (const token of [pair.refreshToken, bound.pair.refreshToken])
        expect((await refresh(token)).outcome).toBe('key_mismatch');
      await environment.fixture.redis.flushdb();
      expect((await refresh(bound.pair.refreshToken)).outcome).toBe('key_mismatch');
      expect(await outcomeOf(pair.accessToken, null)).toBe('active');
    });
  });

  it('a refresh with client keys is checked for client, revocation, generation, key and scope, in this order', async () => {
    const { pair, grantId } = await environment.active({ jkt: FIRST });
    const asOther = {
      clientId: environment.otherClientId,
      clientHasKeys: true,
      jkt: SECOND,
      scope: 'admin',
      resources: null,
    };
    expect((await environment.engine.refresh(pair.refreshToken, asOther)).outcome).toBe('other_client');
    expect((await refresh(pair.refreshToken, { scope: 'admin' })).outcome).toBe('key_mismatch');
    expect((await refresh(pair.refreshToken, { jkt: SECOND, scope: 'admin' })).outcome).toBe(
      'scope_not_granted',
    );
    const next = granted(await refresh(pair.refreshToken, { jkt: SECOND })).pair;
    granted(await refresh(next.refreshToken, { jkt: THIRD }));
    expect((await refresh(pair.refreshToken)).outcome).toBe('refresh_token_reused');
    expect((await environment.fixture.records.find(grantId))?.revokedAt).not.toBeNull();
    expect((await refresh(pair.refreshToken)).outcome).toBe('revoked');
  });
});
