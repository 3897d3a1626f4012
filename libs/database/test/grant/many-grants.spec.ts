import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationContextStore } from '#database/client/authorization-context.store.js';
import { ConnectedAppStore } from '#database/grant/connected-app.store.js';
import { UserAccountStore } from '#database/user/user-account.store.js';
import { useGrants } from './use-grants.js';

const MANY = 20_000;
/** Rows, and blocks of 8 KiB, that a page's statements may read for a user with one application. */
const FEW = 2_000;

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** Rows of `grants` that a plan has read. Blocks tell of index entries that it has read and skipped. */
function rowsRead(plan: Plan): number {
  const isOfGrants = (plan['Relation Name'] ?? plan['Index Name'] ?? '').startsWith('grants');
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = isOfGrants ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own);
}

describe('a user with many grants', () => {
  const world = useGrants();
  const query = <T>(sql: string, values: unknown[] = []) => world.database.dataSource.query<T>(sql, values);

  const accounts = () => new UserAccountStore(world.database.dataSource);

  /** Records many grants of today at once. */
  async function fill(kind: { readonly revoked?: boolean; readonly expired?: boolean }): Promise<void> {
    const id = "translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/=', '-_')";
    await query(
      `INSERT INTO grants (id, user_id, client_id, scope, asked_scope, created_at, lifetime, expires_at, revoked_at,
                           revocation_applied_at)
       SELECT ${id}, $1, $2, 'profile:read', 'profile:read bookings:read', now() - n * interval '1 second',
              interval '90 days', now() + $4 * interval '1 day', revoked_at, revoked_at
       FROM generate_series(1, $3::integer) n, (SELECT CASE WHEN $5 THEN now() - interval '2 days' END AS revoked_at) revoked`,
      [world.mine, world.one, MANY, kind.expired ? -1 : 90, kind.revoked ?? false],
    );
    await query('ANALYZE grants');
  }

  /** Rows or blocks that a statement of `work` reads, of the one that reads most; they are repeated after `undo`. */
  async function mostReadBy(work: () => Promise<unknown>, undo?: () => Promise<unknown>): Promise<number> {
    const statements = await world.database.statementsWithValuesOf(work);
    await undo?.();
    let most = 0;
    for (const { text, values } of statements) {
      if (!/\bgrants\b/.test(text)) continue;
      const [explained] = await query<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      for (const { Plan } of explained?.['QUERY PLAN'] ?? []) {
        const blocks = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
        most = Math.max(most, rowsRead(Plan), blocks);
      }
    }
    return most;
  }

  const newRecord = () => ({
    id: createHash('sha256').update(randomBytes(16)).digest('base64url'),
    userId: world.mine,
    clientId: world.one,
    scope: 'profile:read',
    askedScope: 'profile:read',
    resources: null,
    expiresAt: new Date(Date.now() + 1e9),
  });

  it.each([
    ['live', false],
    ['revoked', true],
  ])('causes few reads for a page or an answer when the grants are %s', async (_, revoked) => {
    await fill({ revoked });
    await world.grant(world.mine, world.one);
    const { mine, one, grants, database } = world;
    const contexts = new AuthorizationContextStore(database.dataSource);
    const apps = new ConnectedAppStore(database.dataSource);
    expect(await mostReadBy(() => contexts.find(one, mine))).toBeLessThan(FEW);
    expect(await mostReadBy(() => apps.list(mine))).toBeLessThan(FEW);
    expect(await mostReadBy(() => apps.find(mine, one))).toBeLessThan(FEW);
    for (const continuesConsent of [false, true]) {
      const record = { ...newRecord(), continuesConsent };
      const create = async () => expect(await grants.create(record)).toBe(true);
      expect(await mostReadBy(create, () => grants.withdraw(record.id))).toBeLessThan(FEW);
    }
    const declining = newRecord();
    const decline = () => grants.createDeclining(declining, ['bookings:read']);
    expect(await mostReadBy(decline, () => grants.withdraw(declining.id))).toBeLessThan(FEW);
  });

  it.each([
    ['live', false],
    ['revoked', true],
  ])('sees the decisions and applications of all grants when they are %s', async (_, revoked) => {
    await fill({ revoked });
    const { mine, one, two, grants, database } = world;
    const last = await world.grant(mine, one, { scope: 'bookings:read' });
    await world.grant(mine, two);
    await grants.touch([{ id: last, day: '2030-01-02' }]);
    const [{ oldest }] = await query<[{ oldest: Date }]>(
      'SELECT min(created_at) AS oldest FROM grants WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL',
      [mine, one],
    );
    const { decisions, grantsOfDay } = await new AuthorizationContextStore(database.dataSource).find(
      one,
      mine,
    );
    const both = { asked: 'profile:read bookings:read', allowed: 'profile:read' };
    expect(decisions).toMatchObject([
      { asked: 'bookings:read', allowed: 'bookings:read' },
      ...(revoked ? [] : [both]),
    ]);
    expect(grantsOfDay).toBeGreaterThanOrEqual(100);
    const apps = new ConnectedAppStore(database.dataSource);
    const found = await apps.find(mine, one);
    expect(found).toMatchObject({ clientId: one, since: oldest, lastUsedOn: '2030-01-02' });
    // In no order: that of the pages is the order of the scope file.
    expect(new Set(found?.scopes)).toEqual(new Set(['bookings:read', ...(revoked ? [] : ['profile:read'])]));
    expect((await apps.list(mine)).map(({ clientId }) => clientId).toSorted()).toEqual([one, two].toSorted());
    expect(await apps.find(mine, await world.client())).toBeNull();
  });

  it.each<[by: string, revoke: () => Promise<number | undefined>]>([
    ['the user', async () => new Set(await world.grants.revokeOf(world.mine, world.one)).size],
    ['"user disable"', async () => (await accounts().disable(world.mine))?.revokedGrants],
    ['"user delete"', async () => (await accounts().delete(world.mine))?.revokedGrants],
  ])('loses all of them, in batches that end in time, by %s', async (_, revoke) => {
    await fill({});
    let revoked: number | undefined;
    const statements = await world.database.statementsOf(async () => (revoked = await revoke()));
    expect(revoked).toBe(MANY);
    expect(statements.filter((text) => text.includes('UPDATE grants'))).toHaveLength(MANY / 5_000 + 1);
    const live = 'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await query(live, [world.mine])).toEqual([]);
  });

  it('loses 1000 expired grants with each new grant', async () => {
    await fill({ expired: true });
    const left = async () => {
      const [row] = await query<{ count: string }[]>(
        'SELECT count(*) FROM grants WHERE user_id = $1 AND expires_at < now()',
        [world.mine],
      );
      return Number(row?.count);
    };
    await world.grants.create(newRecord());
    expect(await left()).toBe(MANY - 1000);
    await world.grants.create(newRecord());
    expect(await left()).toBe(MANY - 2000);
  });
});
