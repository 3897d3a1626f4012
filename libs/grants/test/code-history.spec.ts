import { granted, useGrantEnvironment } from './grant-environment.js';

const world = useGrantEnvironment();

describe('a code issued before a failover of Redis', () => {
  it('is refused, because its redemption may have been lost', async () => {
    const { code, grantId } = await world.pending();
    // A promoted replica has another replication id.
    await world.fixture.redis.hset(`grant:${grantId}`, 'replication_id', '0'.repeat(40));
    expect((await world.redeem(code)).outcome).toBe('issued_before_failover');
    expect((await world.redeem(code)).outcome).toBe('issued_before_failover');
    expect(world.announced).not.toContain(grantId);
  });

  it('does not revoke the grant of the client that redeemed it before', async () => {
    const { code, grantId } = await world.pending();
    const key = `grant:${grantId}`;
    const before = await world.fixture.redis.dumpBuffer(key);
    const first = granted(await world.redeem(code));
    await world.fixture.redis.restore(key, 0, before, 'REPLACE');
    await world.fixture.redis.hset(key, 'replication_id', '0'.repeat(40));
    expect((await world.redeem(code)).outcome).toBe('issued_before_failover');
    const renewal = { clientId: world.clientId, jkt: null, scope: null, resources: null };
    expect((await world.engine.refresh(first.pair.refreshToken, renewal)).outcome).toBe('granted');
    // Redis has the redemption again, so the code counts as replayed.
    expect((await world.redeem(code)).outcome).toBe('code_replayed');
  });
});
