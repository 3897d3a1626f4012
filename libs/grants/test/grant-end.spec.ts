import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { granted, useGrantEnvironment } from './use-grant-environment.js';

const WEEK = 7 * 86_400;

const environment = useGrantEnvironment();

const introspect = (token: string) => environment.engine.introspect(token, null);
const refresh = (refreshToken: string) =>
  environment.engine.refresh(refreshToken, {
    clientId: environment.clientId,
    jkt: null,
    scope: null,
    resources: null,
  });
const weekFromNow = () => Math.floor(environment.now() / 1000 + WEEK) * 1000;
const ttl = (grantId: string) => environment.fixture.redis.ttl(`grant:${grantId}`);

describe('a grant with an end', () => {
  it('has no token that is valid after the end, however often it is refreshed', async () => {
    const { pair } = await environment.active({ endsAt: weekFromNow() });
    environment.advance(WEEK - 600);
    const next = granted(await refresh(pair.refreshToken)).pair;
    expect(next.expiresIn).toBeLessThanOrEqual(600);
    expect((await introspect(next.accessToken)).outcome).toBe('active');
    environment.advance(600 + DEFAULT_LIFETIMES.clockSkew + 1);
    expect((await introspect(next.accessToken)).outcome).toBe('expired');
    expect((await introspect(next.refreshToken)).outcome).toBe('expired');
    expect((await refresh(next.refreshToken)).outcome).toBe('expired');
  });

  it('issues the same tokens to a retry', async () => {
    const { pair } = await environment.active({ endsAt: weekFromNow() });
    const next = granted(await refresh(pair.refreshToken)).pair;
    expect(granted(await refresh(pair.refreshToken)).pair).toEqual(next);
  });

  it('keeps the end when it is restored from PostgreSQL', async () => {
    const endsAt = weekFromNow();
    const { pair, grantId } = await environment.active({ endsAt });
    await environment.fixture.redis.del(`grant:${grantId}`);
    const restored = granted(await refresh(pair.refreshToken));
    expect(restored.grant.endsAt).toBe(endsAt);
    expect(environment.fixture.codec.decode(restored.pair.refreshToken)?.expiry).toBe(endsAt / 1000);
  });

  it('leaves Redis after its end, and a grant without an end after the lifetime of its refresh token', async () => {
    const endsAt = Math.floor(Date.now() / 1000 + WEEK) * 1000;
    const { grantId, pair } = await environment.active({ endsAt });
    expect(await ttl(grantId)).toBeLessThanOrEqual(WEEK + 61);
    await refresh(pair.refreshToken);
    expect(await ttl(grantId)).toBeLessThanOrEqual(WEEK + 61);
    await environment.fixture.redis.del(`grant:${grantId}`);
    await introspect(pair.accessToken);
    expect(await ttl(grantId)).toBeLessThanOrEqual(WEEK + 61);
    const unlimited = await environment.active();
    expect(await ttl(unlimited.grantId)).toBeGreaterThan(DEFAULT_LIFETIMES.refreshToken - 60);
  });

  it('keeps the end when a device redeems it', async () => {
    const { engine, issuer, clientId, userId } = environment;
    const { code, grantId } = issuer.deviceCode(environment.now());
    await engine.request(grantId, clientId, null);
    const endsAt = weekFromNow();
    const grant = { clientId, userId, externalId: null, scope: 'profile:read', resources: null, endsAt };
    await engine.approve(grantId, grant);
    const { pair } = granted(await engine.poll(code, { clientId, jkt: null, resources: null }));
    expect(environment.fixture.codec.decode(pair.refreshToken)?.expiry).toBe(endsAt / 1000);
    expect(await ttl(grantId)).toBeLessThanOrEqual(WEEK + 61 + (endsAt - Date.now()) / 1000 - WEEK);
  });

  it('does not expire later in PostgreSQL when it is used', async () => {
    const endsAt = weekFromNow();
    const { grantId } = await environment.active({ endsAt });
    const day = new Date(endsAt - 86_400_000).toISOString().slice(0, 10);
    await environment.fixture.records.touch([{ id: grantId, day }]);
    const [row] = (await environment.fixture.sql('SELECT expires_at FROM grants WHERE id = $1', [
      grantId,
    ])) as {
      expires_at: Date;
    }[];
    expect(row?.expires_at.getTime()).toBe(endsAt);
  });
});
