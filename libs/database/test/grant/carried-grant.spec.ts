import { createHash, randomBytes } from 'node:crypto';
import { blocked } from '../connection/open-database.js';
import { useGrants } from './use-grants.js';

const DAY_MS = 86_400_000;

describe('a grant that continues earlier consent', () => {
  const world = useGrants();
  async function carryOn(
    scope = 'profile:read',
    resources: string | null = null,
  ): Promise<[id: string, recorded: boolean]> {
    const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
    const expiresAt = new Date(Date.now() + 90 * DAY_MS);
    const { mine, one, grants } = world;
    const grant = {
      id,
      userId: mine,
      clientId: one,
      scope,
      askedScope: scope,
      resources,
      expiresAt,
      continuesConsent: true,
    };
    return [id, await grants.create(grant)];
  }

  it('is recorded while a live grant of the same user and client exists, and not otherwise', async () => {
    const { mine, one, two, grants } = world;
    expect((await carryOn())[1]).toBe(false);
    await world.grant(mine, two);
    await world.grant(await world.user(), one);
    await world.grant(mine, one, { days: -1 });
    expect((await carryOn())[1]).toBe(false);
    await world.grant(mine, one);
    expect((await carryOn())[1]).toBe(true);
    await grants.revokeOf(mine, one);
    expect((await carryOn())[1]).toBe(false);
  });

  it('is recorded only when live grants cover each of its scopes', async () => {
    const { mine, one } = world;
    await world.grant(mine, one, { scope: 'profile:read bookings:read' });
    await world.grant(mine, one, { scope: 'profile:read bookings:write' });
    expect((await carryOn('bookings:read bookings:write'))[1]).toBe(true);
    expect((await carryOn('bookings:read schedules:read'))[1]).toBe(false);
    expect((await carryOn('bookings'))[1]).toBe(false);
    await world.decline(mine, one, ['bookings:write']);
    expect((await carryOn('bookings:read'))[1]).toBe(true);
    expect((await carryOn('profile:read bookings:write'))[1]).toBe(false);
  });

  // @rfc 8707 2.2
  it('is recorded only when live grants cover each of its scopes for each of its APIs (RFC 8707)', async () => {
    const { mine, one } = world;
    const [api, bookings] = ['https://api.example.com', 'https://bookings.example.com'];
    const both = `${api} ${bookings}`;
    await world.grant(mine, one, { scope: 'profile:read', resources: both });
    await world.grant(mine, one, { scope: 'bookings:read', resources: api });
    for (const [scope, resources, expected] of [
      ['profile:read', api, true],
      ['profile:read', both, true],
      ['profile:read', null, false],
      ['profile:read', `${both} https://files.example.com`, false],
      ['profile:read', 'https://api.example', false],
      ['profile:read bookings:read', api, true],
      ['profile:read bookings:read', both, false],
      ['bookings:read', bookings, false],
    ] as const)
      expect([scope, resources, (await carryOn(scope, resources))[1]]).toEqual([scope, resources, expected]);
    await world.grant(mine, one, { scope: 'bookings:read' });
    expect((await carryOn('profile:read bookings:read', both))[1]).toBe(true);
  });

  it('is not recorded when the user declines one of its scopes at the same time', async () => {
    const { mine, one, database } = world;
    await world.grant(mine, one, { scope: 'profile:read' });
    const wide = await world.grant(mine, one, { scope: 'profile:read bookings:read' });
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [mine]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [wide]);
    const waiting = carryOn('profile:read bookings:read');
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
    expect((await carryOn('profile:read'))[1]).toBe(true);
  });

  it('is not recorded when the user revokes the client at the same time', async () => {
    const { mine, one, database } = world;
    const id = await world.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [mine]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    const waiting = carryOn();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
  });

  it('is revoked by a revocation that begins while it is being recorded', async () => {
    const { mine, one, grants, database, isRevoked } = world;
    const id = await world.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM grants WHERE id = $1 FOR UPDATE', [id]);
    const recording = carryOn();
    await blocked(database);
    const revoking = grants.revokeOf(mine, one);
    await blocked(database, 2);
    await runner.commitTransaction();
    await runner.release();
    const [carried, recorded] = await recording;
    expect(recorded).toBe(true);
    expect((await revoking).toSorted()).toEqual([id, carried].toSorted());
    expect(await isRevoked(carried)).toBe(true);
  });

  it('leaves no live grant and no deadlock when recordings, uses and revocations run at once', async () => {
    const { mine, one, grants, database } = world;
    const id = await world.grant(mine, one);
    await Promise.all([
      ...Array.from({ length: 10 }, () => carryOn()),
      grants.revokeOf(mine, one),
      grants.touch([{ id, day: '2031-01-11' }]),
      ...Array.from({ length: 10 }, () => carryOn()),
      grants.revokeAllOf(mine),
    ]);
    const live = 'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await database.dataSource.query(live, [mine])).toEqual([]);
  });

  it('never deadlocks with other writes that lock grants, even while expired ones are deleted', async () => {
    const { mine, one, two, grants, database } = world;
    const live = await world.grant(mine, one);
    for (let round = 0; round < 40; round++) {
      const expired = await Promise.all(Array.from({ length: 30 }, () => world.grant(mine, one)));
      await database.dataSource.query(
        `UPDATE grants SET expires_at = now() - interval '1 day' WHERE id = ANY($1)`,
        [expired],
      );
      const uses = [...expired, live].toReversed().map((id) => ({ id, day: '2031-01-11' }));
      await Promise.all([
        ...Array.from({ length: 3 }, () => carryOn()),
        ...Array.from({ length: 3 }, () => world.grant(mine, one)),
        grants.touch(uses),
        grants.touch(uses.toReversed()),
        grants.revokeOf(mine, two),
        world.decline(mine, one, ['bookings:read']),
      ]);
    }
    expect((await carryOn())[1]).toBe(true);
  });
});
