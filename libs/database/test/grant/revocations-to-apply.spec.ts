import { useGrants } from './use-grants.js';

/** More than any query may return. */
const MANY = 12_000;

const HOUR = 3_600_000;

describe('revocations to apply', () => {
  const world = useGrants();
  const revokedAgo = (id: string, milliseconds: number, appliedAgo: number | null = null) =>
    world.database.dataSource.query(
      `UPDATE grants SET revoked_at = now() - $2::float8 * interval '1 millisecond',
         revocation_applied_at = now() - $3::float8 * interval '1 millisecond' WHERE id = $1`,
      [id, milliseconds, appliedAgo],
    );
  /** So many revoked grants, one each millisecond, or all at once. @returns their ids, newest first */
  const revoked = async (count: number, apartMs: number): Promise<string[]> => {
    const rows = await world.database.dataSource.query<{ id: string }[]>(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime, revoked_at)
       SELECT rpad(md5($1 || i), 43, 'x'), $2, $1, '', '', now() + interval '1 day', interval '1 day',
              now() - i * $3::float8 * interval '1 millisecond'
       FROM generate_series(1, $4::integer) i RETURNING id`,
      [world.one, world.mine, apartMs, count],
    );
    return rows.map(({ id }) => id);
  };
  const pages = async (age = HOUR, onPage?: (ids: string[]) => Promise<unknown>) => {
    const now = await world.grants.databaseTime();
    const found: { id: string; isApplied: boolean }[][] = [];
    for await (const page of world.grants.revocationsToApply(now - age, now)) {
      found.push(page);
      await onPage?.(page.map(({ id }) => id));
    }
    return found;
  };
  const within = async (age: number) => (await pages(age)).flat().map(({ id }) => id);

  beforeEach(() => world.database.dataSource.query('DELETE FROM grants'));

  it('are all unapplied ones, however old, then those applied recently, each part newest first', async () => {
    const { mine, one } = world;
    const grant = () => world.grant(mine, one);
    const [oldest, live, recent, appliedOld, appliedLate, applied] = [
      await grant(),
      await grant(),
      await grant(),
      await grant(),
      await grant(),
      await grant(),
    ];
    await revokedAgo(oldest, 300 * HOUR);
    await revokedAgo(recent, 1000);
    await revokedAgo(appliedOld, 3 * HOUR, 3 * HOUR);
    await revokedAgo(appliedLate, 3 * HOUR, HOUR);
    await revokedAgo(applied, 1000, 900);
    expect(await within(2 * HOUR)).toEqual([recent, oldest, applied, appliedLate]);
    expect(await within(4 * HOUR)).toEqual([recent, oldest, applied, appliedLate, appliedOld]);
    expect(await within(0)).toEqual([recent, oldest]);
    expect(await within(4 * HOUR)).not.toContain(live);
  });

  it('are paged, each once and in order', async () => {
    expect(await within(HOUR)).toEqual([]);
    const ids = await revoked(MANY, 1);
    const found = await pages();
    expect(found.length).toBeGreaterThan(1);
    expect(found.flat().map(({ id }) => id)).toEqual(ids);
  });

  it('are paged, each once, even when one statement revoked them all at the same time', async () => {
    const ids = await revoked(MANY, 0);
    expect((await within(HOUR)).toSorted()).toEqual(ids.toSorted());
  });

  it('are paged once though they are marked meanwhile, and another process’s next pass finds them', async () => {
    const ids = await revoked(MANY, 1);
    const found = await pages(HOUR, (page) => world.grants.markApplied(page));
    expect(found.flat().map(({ id }) => id)).toEqual(ids);
    expect((await within(HOUR)).toSorted()).toEqual(ids.toSorted());
  });

  it('include one that is committed late, whatever its timestamp', async () => {
    const { database, mine, one } = world;
    const id = await world.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query("UPDATE grants SET revoked_at = now() - interval '2 hours' WHERE id = $1", [id]);
    expect(await within(0)).toEqual([]);
    await runner.commitTransaction();
    await runner.release();
    expect(await within(0)).toEqual([id]);
  });

  it('are found through indexes, without a scan of all grants', async () => {
    const { database, grants } = world;
    const ids = await revoked(MANY, 1000);
    await database.dataSource.query(
      'UPDATE grants SET revocation_applied_at = revoked_at WHERE id = ANY($1)',
      [ids.slice(100)],
    );
    await database.dataSource.query(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime)
       SELECT rpad(md5('live' || i), 43, 'x'), $1, $2, '', '', now() + interval '1 day', interval '1 day'
       FROM generate_series(1, $3::integer) i`,
      [world.mine, world.one, MANY],
    );
    await database.dataSource.query('ANALYZE grants');
    const now = await grants.databaseTime();
    const statements = await database.statementsOf(() => pages(65_000));
    const plans = [];
    for (const statement of statements.filter((text) => text.includes('LIMIT'))) {
      const values = statement.includes('$3') ? ['infinity', '', now - 65_000, now] : ['infinity', ''];
      const plan = await database.dataSource.query<{ 'QUERY PLAN': string }[]>(
        `EXPLAIN ${statement}`,
        values,
      );
      plans.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
    }
    expect(plans[0]).toMatch(/Scan.* using grants_revocation_outstanding on grants/);
    expect(plans.at(-1)).toMatch(/Scan.* using grants_revocation_applied on grants/);
  });

  it('are marked only if their grants are recorded', async () => {
    const id = await world.grant(world.mine, world.one);
    await world.grants.markApplied([id, 'x'.repeat(43)]);
    expect(await world.isRevoked(id)).toBe(false);
    expect(await within(HOUR)).toEqual([]);
  });
});
