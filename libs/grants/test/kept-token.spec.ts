import { granted, useGrantEnvironment } from './use-grant-environment.js';

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
    expect(answers.map(({ pair }) => pair.refreshToken)).toEqual([refreshToken, refreshToken, refreshToken]);
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
    expect((await refresh(refreshToken, { keepsRefreshToken: false })).outcome).toBe('refresh_token_reused');
  });

  it('does not apply to a bearer token: its reuse is detected', async () => {
    const { refreshToken } = await bound(null);
    const next = granted(await refresh(refreshToken, { jkt: null })).pair.refreshToken;
    expect(next).not.toBe(refreshToken);
    environment.advance(31);
    expect((await refresh(refreshToken, { jkt: null })).outcome).toBe('refresh_token_reused');
  });
});
