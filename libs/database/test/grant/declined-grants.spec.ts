import { blocked } from '../connection/open-database.js';
import { useGrants } from './use-grants.js';

describe('a decision that declines a scope', () => {
  const world = useGrants();
  const wide = () => world.grant(world.mine, world.one, { scope: 'profile:read bookings:read' });
  const decline = () => world.decline(world.mine, world.one, ['bookings:read']);

  it('ends this client’s grants that hold the scope, and no others', async () => {
    const { mine, one, two, isRevoked } = world;
    const held = [await wide(), await wide()];
    const scope = 'profile:read bookings:read';
    const kept = [
      await world.grant(mine, one),
      await world.grant(mine, two, { scope }),
      await world.grant(await world.user(), one, { scope }),
    ];
    const { id, ended } = await decline();
    expect(ended?.toSorted()).toEqual(held.toSorted());
    for (const grant of held) expect(await isRevoked(grant)).toBe(true);
    for (const grant of [...kept, id]) expect(await isRevoked(grant)).toBe(false);
  });

  it('returns the same ended grants when it is repeated', async () => {
    const held = await wide();
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
  });

  it('keeps an ended grant even if it has expired, because its revocation may not be applied yet', async () => {
    const { mine, one, isRevoked } = world;
    const held = await world.grant(mine, one, { scope: 'profile:read bookings:read', days: -1 });
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
    expect(await isRevoked(held)).toBe(true);
  });

  it('is not recorded, and ends no grant, when the client was deleted', async () => {
    const { one, database, grants, isRevoked } = world;
    const held = await wide();
    await database.dataSource.query('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [one]);
    const { id, ended } = await decline();
    expect(ended).toBeNull();
    expect(await isRevoked(held)).toBe(false);
    expect(await grants.find(id)).toBeNull();
  });

  it('ends no grant when it cannot be recorded', async () => {
    const { mine, one, grants, isRevoked } = world;
    const held = await wide();
    const again = {
      id: held,
      userId: mine,
      clientId: one,
      scope: 'profile:read',
      askedScope: 'profile:read',
      resources: null,
    };
    const refused = grants.createDeclining({ ...again, expiresAt: new Date() }, ['bookings:read']);
    await expect(refused).rejects.toThrow('duplicate key');
    expect(await isRevoked(held)).toBe(false);
  });

  it('waits for a grant that is being recorded, and ends it', async () => {
    const { database, mine, one, isRevoked } = world;
    const held = await wide();
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [mine]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, asked_scope, expires_at, lifetime FROM grants WHERE id = $1`,
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
