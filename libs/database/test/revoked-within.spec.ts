import { setTimeout as sleep } from 'node:timers/promises';
import { useGrants } from './use-grants.js';

/** More than any query may take. */
const MANY = 12_000;

const HOUR = 3_600_000;

describe('what was revoked within a time', () => {
  const world = useGrants();
  const revokedAgo = (id: string, milliseconds: number) =>
    world.directory.dataSource.query(
      `UPDATE grants SET revoked_at = now() - $2::float8 * interval '1 millisecond' WHERE id = $1`,
      [id, milliseconds],
    );
  /** So many grants, one each millisecond, or all at once. @returns their ids, newest first */
  const revoked = async (count: number, apartMs: number): Promise<string[]> => {
    const rows = await world.directory.dataSource.query<{ id: string }[]>(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime, revoked_at)
       SELECT rpad(md5($1 || i), 43, 'x'), $2, $1, '', '', now() + interval '1 day', interval '1 day',
              now() - i * $3::float8 * interval '1 millisecond'
       FROM generate_series(1, $4::integer) i RETURNING id`,
      [world.one, world.mine, apartMs, count],
    );
    return rows.map(({ id }) => id);
  };
  const pagesWithin = async (age: () => number): Promise<string[][]> => {
    const pages: string[][] = [];
    for await (const page of world.grants.revokedWithin(age)) pages.push(page);
    return pages;
  };
  const within = async (milliseconds: number) => (await pagesWithin(() => milliseconds)).flat();

  beforeEach(() => world.directory.dataSource.query('DELETE FROM grants'));

  it('is told newest first, and nothing older or not revoked', async () => {
    const { mine, one } = world;
    const [oldest, live, old, recent] = [
      await world.grant(mine, one),
      await world.grant(mine, one),
      await world.grant(mine, one),
      await world.grant(mine, one),
    ];
    await revokedAgo(oldest, 3 * HOUR);
    await revokedAgo(old, HOUR);
    await revokedAgo(recent, 1000);
    expect(await within(2 * HOUR)).toEqual([recent, old]);
    expect(await within(4 * HOUR)).toEqual([recent, old, oldest]);
    expect(await within(4 * HOUR)).not.toContain(live);
  });

  it('is told page by page, each once and in order', async () => {
    expect(await within(HOUR)).toEqual([]);
    const ids = await revoked(MANY, 1);
    const pages = await pagesWithin(() => HOUR);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(ids);
  });

  it('is told page by page, each once, though a statement revoked them all at one time', async () => {
    const ids = await revoked(MANY, 0);
    expect((await within(HOUR)).toSorted()).toEqual(ids.toSorted());
  });

  it('is as old as is said for each page: time passes between them', async () => {
    await revoked(MANY, 1);
    const ages = [HOUR, HOUR, 0];
    const pages = await pagesWithin(() => ages.shift() ?? 0);
    expect(ages).toEqual([]);
    expect(pages.map(({ length }) => length > 0)).toEqual([true, true, false]);
  });

  it('costs no look at all grants, of which there are many: an index finds it', async () => {
    const { directory, grants } = world;
    await revoked(MANY, 1000);
    await directory.dataSource.query(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime)
       SELECT rpad(md5('live' || i), 43, 'x'), $1, $2, '', '', now() + interval '1 day', interval '1 day'
       FROM generate_series(1, $3::integer) i`,
      [world.mine, world.one, MANY],
    );
    await directory.dataSource.query('ANALYZE grants');
    const [statement = ''] = await directory.statementsOf(() => grants.revokedWithin(() => 65_000).next());
    const plan = await directory.dataSource.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${statement}`, [
      65_000,
      'infinity',
      '',
    ]);
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(lines).toMatch(/Scan.* using grants_revoked on grants/);
    expect(lines).toMatch(/Index Cond: .*revoked_at >= /);
  });

  it('is known to be not all while a transaction is under way that writes, and for how long it is', async () => {
    const { directory, grants, mine, one } = world;
    const id = await world.grant(mine, one);
    expect(await grants.longestWrite()).toBe(0);
    const runner = directory.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1');
    expect(await grants.longestWrite()).toBe(0);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    // It began before this, by PostgreSQL's own clock, which may go a little otherwise than ours.
    const began = performance.now();
    await sleep(200);
    const passed = performance.now() - began;
    expect(await grants.longestWrite()).toBeGreaterThanOrEqual(0.9 * passed);
    await runner.commitTransaction();
    await runner.release();
    expect(await grants.longestWrite()).toBe(0);
  });
});
