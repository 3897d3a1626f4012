import { granted, useGrantEnvironment } from './grant-environment.js';

const environment = useGrantEnvironment();

describe('a code issued before a failover of Redis', () => {
  it('is refused, because its redemption may have been lost', async () => {
    const { code, grantId } = await environment.pending();
    // A promoted replica has another replication id.
    await environment.fixture.redis.hset(`grant:${grantId}`, 'replication_id', '0'.repeat(40));
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    expect(environment.announced).not.toContain(grantId);
  });

  it('does not revoke the grant of the client that redeemed it before', async () => {
    const { code, grantId } = await environment.pending();
    const key = `grant:${grantId}`;
    const before = await environment.fixture.redis.dumpBuffer(key);
    const first = granted(await environment.redeem(code));
    await environment.fixture.redis.restore(key, 0, before, 'REPLACE');
    await environment.fixture.redis.hset(key, 'replication_id', '0'.repeat(40));
    expect((await environment.redeem(code)).outcome).toBe('issued_before_failover');
    const renewal = { clientId: environment.clientId, jkt: null, scope: null, resources: null };
    expect((await environment.engine.refresh(first.pair.refreshToken, renewal)).outcome).toBe('granted');
    // Redis has the redemption again, so the code counts as replayed.
    expect((await environment.redeem(code)).outcome).toBe('code_replayed');
  });
});
