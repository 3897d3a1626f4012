import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { ConnectedAppStore } from '#grants/records/connected-app.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { useGrants } from './use-grants.js';

const MANY = 20_000;
/** Maximum number of rows or 8 KiB blocks that a statement reads for a user with one application. */
const MAX_READ = 2_000;

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

/** Returns the rows of `grants` that a plan reads. The blocks of a plan also include skipped index entries. */
function rowsRead(plan: Plan): number {
  const isOfGrants = (plan['Relation Name'] ?? plan['Index Name'] ?? '').startsWith('grants');
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = isOfGrants ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own);
}

describe('a user with many grants', () => {
  const fixture = useGrants();
  const query = <T>(sql: string, values: unknown[] = []) => fixture.database.dataSource.query<T>(sql, values);

  const accounts = () => new UserAccountStore(fixture.database.dataSource);

  /** Inserts grants of today, all revoked except the newest `live`. The schema does not limit live grants. */
  async function fill({ live = MANY, expired = false }): Promise<void> {
    const id = "translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/=', '-_')";
    await query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, created_at, lifetime, expires_at, revoked_at,
                           revocation_applied_at)
       SELECT ${id}, $1, $2, 'profile:read', 'profile:read bookings:read', now() - n * interval '1 second',
              interval '90 days', now() + $4 * interval '1 day', revoked_at, revoked_at
       FROM generate_series(1, $3::integer) n,
            LATERAL (SELECT CASE WHEN n > $5 THEN now() - interval '2 days' END AS revoked_at) revoked`,
      [fixture.userId, fixture.clientId, MANY, expired ? -1 : 90, live],
    );
    await query('ANALYZE grants');
  }

  /** Repeats the statements of `work` after `undo`. @returns the rows or blocks read by the most expensive statement */
  async function mostReadBy(work: () => Promise<unknown>, undo?: () => Promise<unknown>): Promise<number> {
    const statements = await fixture.database.statementsWithValuesOf(work);
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
    userId: fixture.userId,
    clientId: fixture.clientId,
    scope: 'profile:read',
    requestedScope: 'profile:read',
    resources: null,
    expiresAt: new Date(Date.now() + 1e9),
  });

  it.each([MAX_LIVE_GRANTS, 0])(
    'causes few reads for a page or a response with %d live grants',
    async (live) => {
      await fill({ live });
      await fixture.grant(fixture.userId, fixture.clientId);
      const { userId, clientId, grants, database } = fixture;
      const contexts = new AuthorizationContextStore(database.dataSource);
      const apps = new ConnectedAppStore(database.dataSource);
      expect(await mostReadBy(() => contexts.find(clientId, userId))).toBeLessThan(MAX_READ);
      expect(await mostReadBy(() => apps.list(userId))).toBeLessThan(MAX_READ);
      expect(await mostReadBy(() => apps.find(userId, clientId))).toBeLessThan(MAX_READ);
      for (const continuesConsent of [false, true]) {
        const record = { ...newRecord(), continuesConsent };
        const create = async () => expect(await grants.create(record)).not.toBeNull();
        expect(await mostReadBy(create, () => grants.withdraw(record.id))).toBeLessThan(MAX_READ);
      }
    },
  );

  it('sees the decisions and applications of the live grants', async () => {
    await fill({ live: MAX_LIVE_GRANTS });
    const { userId, clientId, otherClientId, grants, database } = fixture;
    const last = await fixture.grant(userId, clientId, { scope: 'bookings:read' });
    await fixture.grant(userId, otherClientId);
    await grants.touch([{ id: last, day: '2030-01-02' }]);
    const [{ oldest }] = await query<[{ oldest: Date }]>(
      'SELECT min(created_at) AS oldest FROM grants WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL',
      [userId, clientId],
    );
    const contexts = new AuthorizationContextStore(database.dataSource);
    const { decisions, grantsOfDay } = await contexts.find(clientId, userId);
    expect(decisions).toMatchObject([
      { requested: 'bookings:read', granted: 'bookings:read' },
      { requested: 'profile:read bookings:read', granted: 'profile:read' },
    ]);
    expect(grantsOfDay).toBeGreaterThanOrEqual(100);
    const apps = new ConnectedAppStore(database.dataSource);
    const found = await apps.find(userId, clientId);
    expect(found).toMatchObject({ clientId, since: oldest, lastUsedOn: '2030-01-02' });
    // Compared as sets, because pages sort scopes by the scope file.
    expect(new Set(found?.scopes)).toEqual(new Set(['bookings:read', 'profile:read']));
    expect((await apps.list(userId)).map(({ clientId }) => clientId).toSorted()).toEqual(
      [clientId, otherClientId].toSorted(),
    );
    expect(await apps.find(userId, await fixture.client())).toBeNull();
  });

  it.each<[by: string, revoke: () => Promise<number | undefined>]>([
    ['the user', async () => new Set(await fixture.grants.revokeOf(fixture.userId, fixture.clientId)).size],
    ['"user disable"', async () => (await accounts().disable(fixture.userId))?.revokedGrants],
    ['"user delete"', async () => (await accounts().delete(fixture.userId))?.revokedGrants],
  ])('loses all grants in batches after a revocation by %s', async (_, revoke) => {
    await fill({});
    let revoked: number | undefined;
    const statements = await fixture.database.statementsOf(async () => (revoked = await revoke()));
    expect(revoked).toBe(MANY);
    expect(statements.filter((text) => text.includes('UPDATE grants'))).toHaveLength(MANY / 5_000 + 1);
    const live = 'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await query(live, [fixture.userId])).toEqual([]);
  });

  it('loses 1,000 expired grants with each new grant', async () => {
    await fill({ expired: true });
    const left = async () => {
      const [row] = await query<{ count: string }[]>(
        'SELECT count(*) FROM grants WHERE user_id = $1 AND expires_at < now()',
        [fixture.userId],
      );
      return Number(row?.count);
    };
    await fixture.grants.create(newRecord());
    expect(await left()).toBe(MANY - 1000);
    await fixture.grants.create(newRecord());
    expect(await left()).toBe(MANY - 2000);
  });
});
