import { GrantStore } from '#grants/grant.store.js';
import { storedGrant } from '#test/support/stored.js';
import { useGrantEnvironment } from './use-grant-environment.js';

const environment = useGrantEnvironment();

const keyOf = (id: string) => `grant:${id}`;
const statusOf = async (id: string) => (await storedGrant(environment.fixture.redis, id)).status;
const broadcastsOf = (id: string) => environment.announced.filter((other) => other === id).length;
const lostInSql = (id: string) => environment.fixture.sql('DELETE FROM grants WHERE id = $1', [id]);

describe('a revocation that is applied to Redis again', () => {
  it.each([
    ['a grant in use', async () => (await environment.active()).grantId],
    ['a code', async () => (await environment.pending()).grantId],
    [
      'a grant that Redis has lost',
      async () => {
        const { grantId } = await environment.active();
        await environment.fixture.redis.del(keyOf(grantId));
        return grantId;
      },
    ],
  ])('changes %s once if applied concurrently, and is broadcast only once', async (_, made) => {
    const id = await made();
    const repeat = () => environment.revocations.reapply([{ id, isApplied: true }], false);
    const changes = await Promise.all(Array.from({ length: 20 }, repeat));
    expect(changes.filter((changed) => changed > 0)).toHaveLength(1);
    expect(await repeat()).toBe(0);
    expect(broadcastsOf(id)).toBe(1);
    expect(await statusOf(id)).toBe('revoked');
  });

  it('is broadcast each time if broadcasts may have been lost', async () => {
    const { grantId } = await environment.active();
    for (const changed of [1, 0, 0])
      expect(await environment.revocations.reapply([{ id: grantId, isApplied: true }], true)).toBe(changed);
    expect(broadcastsOf(grantId)).toBe(3);
  });

  it('is broadcast by each request, because an earlier process may have died before its broadcast', async () => {
    const { grantId } = await environment.active();
    await environment.revocations.revoke(grantId);
    await environment.revocations.revoke(grantId);
    expect(broadcastsOf(grantId)).toBe(2);
  });

  it('leaves the tombstone’s TTL unchanged', async () => {
    const { grantId } = await environment.active();
    await environment.revocations.revoke(grantId);
    await environment.fixture.redis.expire(keyOf(grantId), 1000);
    await environment.revocations.reapply([{ id: grantId, isApplied: true }], false);
    expect(await environment.fixture.redis.ttl(keyOf(grantId))).toBeLessThanOrEqual(1000);
  });
});

describe('the revocation of a token whose grant PostgreSQL has lost (RFC 7009 2.1)', () => {
  const revoke = (token: string, clientId = environment.clientId) =>
    environment.engine.revokeByToken(token, clientId);

  it.each(['accessToken', 'refreshToken'] as const)(
    'ends the grant of the token, and is broadcast: %s',
    async (which) => {
      const { pair, grantId } = await environment.active();
      await lostInSql(grantId);
      expect(await revoke(pair[which])).toEqual({ outcome: 'revoked', grantId });
      expect(broadcastsOf(grantId)).toBe(1);
      expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('revoked');
      const request = { clientId: environment.clientId, jkt: null, scope: null, resources: null };
      expect((await environment.engine.refresh(pair.refreshToken, request)).outcome).toBe('revoked');
      expect(await environment.fixture.redis.ttl(keyOf(grantId))).toBeGreaterThan(0);
    },
  );

  it('is broadcast again when it is repeated', async () => {
    const { pair, grantId } = await environment.active();
    await lostInSql(grantId);
    await revoke(pair.refreshToken);
    expect(await revoke(pair.refreshToken)).toEqual({ outcome: 'revoked', grantId });
    expect(broadcastsOf(grantId)).toBe(2);
  });

  it('does not change the grant of another client', async () => {
    const { pair, grantId } = await environment.active();
    await lostInSql(grantId);
    expect((await revoke(pair.refreshToken, environment.otherClientId)).outcome).toBe('unknown');
    expect(broadcastsOf(grantId)).toBe(0);
    expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('active');
  });

  it('does not write to Redis if Redis has lost the grant too', async () => {
    const { pair, grantId } = await environment.active();
    await lostInSql(grantId);
    await environment.fixture.redis.del(keyOf(grantId));
    expect((await revoke(pair.refreshToken)).outcome).toBe('unknown');
    expect(await environment.fixture.redis.exists(keyOf(grantId))).toBe(0);
  });

  it('is atomic with respect to refreshes', async () => {
    for (let round = 0; round < 20; round++) {
      const { pair, grantId } = await environment.active();
      await lostInSql(grantId);
      const request = { clientId: environment.clientId, jkt: null, scope: null, resources: null };
      await Promise.all([
        revoke(pair.accessToken),
        environment.engine.refresh(pair.refreshToken, request),
        environment.engine.introspect(pair.accessToken, null),
      ]);
      expect(await statusOf(grantId)).toBe('revoked');
    }
  });
});

it('GrantStore revokes a pending or active grant, but only for its client', async () => {
  const store = new GrantStore(environment.fixture.redis);
  const [{ grantId: pending }, { grantId: active }] = [
    await environment.pending(),
    await environment.active(),
  ];
  for (const id of [pending, active]) {
    expect(await store.revokeOfClient(environment.otherClientId, id, 60)).toBe(false);
    expect(await statusOf(id)).not.toBe('revoked');
    expect(await store.revokeOfClient(environment.clientId, id, 60)).toBe(true);
    expect(await statusOf(id)).toBe('revoked');
  }
});
