import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { blocked } from '../connection/open-database.js';
import { useGrants } from './use-grants.js';

describe('revoking a user’s grants', () => {
  const fixture = useGrants();
  const revokedAgo = (id: string, minutes: number, isApplied = true) =>
    fixture.database.dataSource.query(
      `UPDATE grants SET revoked_at = now() - $2 * interval '1 minute',
         revocation_applied_at = CASE WHEN $3 THEN now() - $2 * interval '1 minute' END WHERE id = $1`,
      [id, minutes, isApplied],
    );

  it('revokes every grant to one client only', async () => {
    const { mine, one, two, grants, isRevoked } = fixture;
    const ids = [await fixture.grant(mine, one), await fixture.grant(mine, one)];
    const kept = [await fixture.grant(mine, two), await fixture.grant(await fixture.user(), one)];
    expect((await grants.revokeOf(mine, one)).toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await isRevoked(id)).toBe(true);
    for (const id of kept) expect(await isRevoked(id)).toBe(false);
  });

  it('revokes every grant of one user only', async () => {
    const { mine, one, two, grants, isRevoked } = fixture;
    const ids = [await fixture.grant(mine, one), await fixture.grant(mine, two)];
    const kept = await fixture.grant(await fixture.user(), one);
    expect((await grants.revokeEvery(mine)).toSorted()).toEqual(ids.toSorted());
    expect(await isRevoked(kept)).toBe(false);
    expect(await grants.revokeEvery(await fixture.user())).toEqual([]);
  });

  it('returns recent and unapplied revocations again, with their original times', async () => {
    const { mine, one, grants } = fixture;
    const [recent, old, outstanding, live] = [
      await fixture.grant(mine, one),
      await fixture.grant(mine, one),
      await fixture.grant(mine, one),
      await fixture.grant(mine, one),
    ];
    await revokedAgo(recent, 9);
    await revokedAgo(old, 11);
    await revokedAgo(outstanding, 11, false);
    const before = (await grants.find(recent))?.revokedAt;
    expect((await grants.revokeOf(mine, one)).toSorted()).toEqual([recent, outstanding, live].toSorted());
    expect((await grants.revokeOf(mine, one)).toSorted()).toEqual([recent, outstanding, live].toSorted());
    expect((await grants.find(recent))?.revokedAt).toEqual(before);
  });

  it('returns every grant to each concurrent call, because any of them may fail', async () => {
    const { mine, one, grants } = fixture;
    const ids = await Promise.all(Array.from({ length: 20 }, () => fixture.grant(mine, one)));
    const outcomes = await Promise.all([
      grants.revokeOf(mine, one),
      grants.revokeEvery(mine),
      grants.revokeOf(mine, one),
    ]);
    for (const outcome of outcomes) expect(outcome.toSorted()).toEqual(ids.toSorted());
    const times = await Promise.all(ids.map(async (id) => (await grants.find(id))?.revokedAt?.getTime()));
    expect(new Set(times).size).toBe(1);
  });

  it('does not deadlock with uses that are recorded concurrently', async () => {
    const { mine, one, grants, isRevoked } = fixture;
    const ids = await Promise.all(Array.from({ length: 50 }, () => fixture.grant(mine, one)));
    const uses = (day: number) => ids.toReversed().map((id) => ({ id, day: `2031-01-1${day}` }));
    await Promise.all([
      ...Array.from({ length: 8 }, (_, day) => grants.touch(uses(day))),
      grants.revokeEvery(mine),
      grants.revokeOf(mine, one),
    ]);
    for (const id of ids) expect(await isRevoked(id)).toBe(true);
  });

  it('waits for a revocation in progress, and returns it too', async () => {
    const { mine, one, grants, database } = fixture;
    const id = await fixture.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    const waiting = grants.revokeOf(mine, one);
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect(await waiting).toEqual([id]);
  });

  it.each([
    ['revoked', (grants: GrantRecordStore) => grants.revokeEvery(fixture.mine)],
    [
      'declined',
      (grants: GrantRecordStore, held: string) => {
        const id = `newer${held.slice(5)}`;
        const scope = 'bookings:read';
        const record = {
          userId: fixture.mine,
          clientId: fixture.one,
          scope,
          requestedScope: `profile:read ${scope}`,
          resources: null,
        };
        return grants.create({ id, ...record, expiresAt: new Date(Date.now() + 60_000) }, ['profile:read']);
      },
    ],
  ])('sees a grant that is being recorded under any default isolation level: %s', async (_, end) => {
    const { mine, one, database, isRevoked } = fixture;
    const source = await databaseDataSource(database.databaseUrl, {
      ...requestLimits(PATIENT_MS),
      poolSize: 1,
    }).initialize();
    await source.query('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const held = await fixture.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [mine]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, requested_scope, expires_at, lifetime FROM grants WHERE id = $1`,
      [held, one],
    );
    const waiting = end(new GrantRecordStore(source), held);
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    await waiting;
    await source.destroy();
    expect(await isRevoked(`other${held.slice(5)}`)).toBe(true);
  });
});
