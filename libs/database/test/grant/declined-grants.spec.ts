import { blocked } from '#test/support/blocked.js';
import { useGrants } from './use-grants.js';

describe('a decision that declines a scope', () => {
  const fixture = useGrants();
  const wide = () => fixture.grant(fixture.mine, fixture.one, { scope: 'profile:read bookings:read' });
  const decline = () => fixture.decline(fixture.mine, fixture.one, ['bookings:read']);

  it('ends only grants to this client that include the scope', async () => {
    const { mine, one, two, isRevoked } = fixture;
    const held = [await wide(), await wide()];
    const scope = 'profile:read bookings:read';
    const kept = [
      await fixture.grant(mine, one),
      await fixture.grant(mine, two, { scope }),
      await fixture.grant(await fixture.user(), one, { scope }),
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
    const { mine, one, isRevoked } = fixture;
    const held = await fixture.grant(mine, one, { scope: 'profile:read bookings:read', days: -1 });
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
    expect(await isRevoked(held)).toBe(true);
  });

  it('is not recorded, and ends no grant, if the client was deleted', async () => {
    const { one, database, grants, isRevoked } = fixture;
    const held = await wide();
    await database.dataSource.query('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [one]);
    const { id, ended } = await decline();
    expect(ended).toBeNull();
    expect(await isRevoked(held)).toBe(false);
    expect(await grants.find(id)).toBeNull();
  });

  it('is not recorded, and ends no grant, if its id is taken', async () => {
    const { mine, one, grants, isRevoked } = fixture;
    const held = await wide();
    const again = {
      id: held,
      userId: mine,
      clientId: one,
      scope: 'profile:read',
      requestedScope: 'profile:read',
      resources: null,
    };
    expect(await grants.create({ ...again, expiresAt: new Date() }, ['bookings:read'])).toBeNull();
    expect(await isRevoked(held)).toBe(false);
  });

  it('waits for a grant that is being recorded, and ends it', async () => {
    const { database, mine, one, isRevoked } = fixture;
    const held = await wide();
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [mine]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, requested_scope, expires_at, lifetime FROM grants WHERE id = $1`,
      [held, one],
    );
    const waiting = decline();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting).ended).toHaveLength(2);
    expect(await isRevoked(`other${held.slice(5)}`)).toBe(true);
  });
});
