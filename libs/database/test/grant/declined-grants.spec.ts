import { blocked } from '#test/support/blocked.js';
import { useGrants } from './use-grants.js';

describe('a decision that declines a scope', () => {
  const fixture = useGrants();
  const wide = () => fixture.grant(fixture.userId, fixture.clientId, { scope: 'profile:read bookings:read' });
  const decline = () => fixture.decline(fixture.userId, fixture.clientId, ['bookings:read']);

  it('ends only grants to this client that include the scope', async () => {
    const { userId, clientId, otherClientId, isRevoked } = fixture;
    const held = [await wide(), await wide()];
    const scope = 'profile:read bookings:read';
    const kept = [
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, otherClientId, { scope }),
      await fixture.grant(await fixture.user(), clientId, { scope }),
    ];
    const { id, ended } = await decline();
    expect(ended?.toSorted()).toEqual(held.toSorted());
    for (const grant of held) expect(await isRevoked(grant)).toBe(true);
    for (const grant of [...kept, id]) expect(await isRevoked(grant)).toBe(false);
  });

  it('returns the same ended grants again', async () => {
    const held = await wide();
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
  });

  it('keeps an ended grant even if it has expired, because its revocation may not be applied yet', async () => {
    const { userId, clientId, isRevoked } = fixture;
    const held = await fixture.grant(userId, clientId, { scope: 'profile:read bookings:read', days: -1 });
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
    expect(await isRevoked(held)).toBe(true);
  });

  it('is not recorded, and ends no grant, if the client was deleted', async () => {
    const { clientId, database, grants, isRevoked } = fixture;
    const held = await wide();
    await database.dataSource.query('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [clientId]);
    const { id, ended } = await decline();
    expect(ended).toBeNull();
    expect(await isRevoked(held)).toBe(false);
    expect(await grants.find(id)).toBeNull();
  });

  it('is not recorded, and ends no grant, if its id is taken', async () => {
    const { userId, clientId, grants, isRevoked } = fixture;
    const held = await wide();
    const again = {
      id: held,
      userId,
      clientId,
      scope: 'profile:read',
      requestedScope: 'profile:read',
      resources: null,
    };
    expect(await grants.create({ ...again, expiresAt: new Date() }, ['bookings:read'])).toBeNull();
    expect(await isRevoked(held)).toBe(false);
  });

  it('waits for a grant that is being recorded, and ends it', async () => {
    const { database, userId, clientId, isRevoked } = fixture;
    const held = await wide();
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [userId]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, requested_scope, expires_at, lifetime FROM grants WHERE id = $1`,
      [held, clientId],
    );
    const waiting = decline();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting).ended).toHaveLength(2);
    expect(await isRevoked(`other${held.slice(5)}`)).toBe(true);
  });
});
