import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { blocked } from '#test/support/until.js';
import { useGrants } from './use-grants.js';

describe('the revocation of a user’s grants', () => {
  const fixture = useGrants();
  const revokedAgo = (id: string, minutes: number, isApplied = true) =>
    fixture.database.dataSource.query(
      `UPDATE grants SET revoked_at = now() - $2 * interval '1 minute',
         revocation_applied_at = CASE WHEN $3 THEN now() - $2 * interval '1 minute' END WHERE id = $1`,
      [id, minutes, isApplied],
    );

  it('covers every grant to one client, but no other grants', async () => {
    const { userId, clientId, otherClientId, grants, isRevoked } = fixture;
    const ids = [await fixture.grant(userId, clientId), await fixture.grant(userId, clientId)];
    const kept = [
      await fixture.grant(userId, otherClientId),
      await fixture.grant(await fixture.user(), clientId),
    ];
    expect((await grants.revokeOf(userId, clientId)).toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await isRevoked(id)).toBe(true);
    for (const id of kept) expect(await isRevoked(id)).toBe(false);
  });

  it('covers every grant of one user, but no grants of other users', async () => {
    const { userId, clientId, otherClientId, grants, isRevoked } = fixture;
    const ids = [await fixture.grant(userId, clientId), await fixture.grant(userId, otherClientId)];
    const kept = await fixture.grant(await fixture.user(), clientId);
    expect((await grants.revokeEvery(userId)).toSorted()).toEqual(ids.toSorted());
    expect(await isRevoked(kept)).toBe(false);
    expect(await grants.revokeEvery(await fixture.user())).toEqual([]);
  });

  it('returns recent and unapplied revocations again, with their original times', async () => {
    const { userId, clientId, grants } = fixture;
    const [recent, old, outstanding, live] = [
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, clientId),
    ];
    await revokedAgo(recent, 9);
    await revokedAgo(old, 11);
    await revokedAgo(outstanding, 11, false);
    const before = (await grants.find(recent))?.revokedAt;
    expect((await grants.revokeOf(userId, clientId)).toSorted()).toEqual(
      [recent, outstanding, live].toSorted(),
    );
    expect((await grants.revokeOf(userId, clientId)).toSorted()).toEqual(
      [recent, outstanding, live].toSorted(),
    );
    expect((await grants.find(recent))?.revokedAt).toEqual(before);
  });

  it('returns every grant to each concurrent call, because any call may fail', async () => {
    const { userId, clientId, grants } = fixture;
    const ids = await Promise.all(Array.from({ length: 20 }, () => fixture.grant(userId, clientId)));
    const outcomes = await Promise.all([
      grants.revokeOf(userId, clientId),
      grants.revokeEvery(userId),
      grants.revokeOf(userId, clientId),
    ]);
    for (const outcome of outcomes) expect(outcome.toSorted()).toEqual(ids.toSorted());
    const times = await Promise.all(ids.map(async (id) => (await grants.find(id))?.revokedAt?.getTime()));
    expect(new Set(times).size).toBe(1);
  });

  it('does not deadlock with uses that are recorded concurrently', async () => {
    const { userId, clientId, grants, isRevoked } = fixture;
    const ids = await Promise.all(Array.from({ length: 50 }, () => fixture.grant(userId, clientId)));
    const uses = (day: number) => ids.toReversed().map((id) => ({ id, day: `2031-01-1${day}` }));
    await Promise.all([
      ...Array.from({ length: 8 }, (_, day) => grants.touch(uses(day))),
      grants.revokeEvery(userId),
      grants.revokeOf(userId, clientId),
    ]);
    for (const id of ids) expect(await isRevoked(id)).toBe(true);
  });

  it('waits for a revocation in progress, and returns it too', async () => {
    const { userId, clientId, grants, database } = fixture;
    const id = await fixture.grant(userId, clientId);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    const waiting = grants.revokeOf(userId, clientId);
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect(await waiting).toEqual([id]);
  });

  it.each([
    ['a revocation', (grants: GrantRecordStore) => grants.revokeEvery(fixture.userId)],
    [
      'a declined scope',
      (grants: GrantRecordStore, held: string) => {
        const id = `newer${held.slice(5)}`;
        const scope = 'bookings:read';
        const record = {
          userId: fixture.userId,
          clientId: fixture.clientId,
          scope,
          requestedScope: `profile:read ${scope}`,
          resources: null,
        };
        return grants.create({ id, ...record, expiresAt: new Date(Date.now() + 60_000) }, ['profile:read']);
      },
    ],
  ])('includes a grant that is being recorded, under any default isolation level: %s', async (_, end) => {
    const { userId, clientId, database, isRevoked } = fixture;
    const source = await databaseDataSource(database.databaseUrl, {
      ...requestLimits(PATIENT_MS),
      poolSize: 1,
    }).initialize();
    await source.query('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const held = await fixture.grant(userId, clientId);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [userId]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, requested_scope, expires_at, lifetime FROM grants WHERE id = $1`,
      [held, clientId],
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

const MANY = 12_000;

const HOUR = 3_600_000;

describe('the list of revocations to apply', () => {
  const fixture = useGrants();
  const revokedAgo = (id: string, milliseconds: number, appliedAgo: number | null = null) =>
    fixture.database.dataSource.query(
      `UPDATE grants SET revoked_at = now() - $2::float8 * interval '1 millisecond',
         revocation_applied_at = now() - $3::float8 * interval '1 millisecond' WHERE id = $1`,
      [id, milliseconds, appliedAgo],
    );
  /** Creates revoked grants, `apartMs` apart. @returns their ids, newest first */
  const revoked = async (count: number, apartMs: number): Promise<string[]> => {
    const rows = await fixture.database.dataSource.query<{ id: string }[]>(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime, revoked_at)
       SELECT rpad(md5($1 || i), 43, 'x'), $2, $1, '', '', now() + interval '1 day', interval '1 day',
              now() - i * $3::float8 * interval '1 millisecond'
       FROM generate_series(1, $4::integer) i RETURNING id`,
      [fixture.clientId, fixture.userId, apartMs, count],
    );
    return rows.map(({ id }) => id);
  };
  const pages = async (age = HOUR, onPage?: (ids: string[]) => Promise<unknown>) => {
    const now = await fixture.grants.databaseTime();
    const found: { id: string; isApplied: boolean }[][] = [];
    for await (const page of fixture.grants.revocationsToApply(now - age, now)) {
      found.push(page);
      await onPage?.(page.map(({ id }) => id));
    }
    return found;
  };
  const within = async (age: number) => (await pages(age)).flat().map(({ id }) => id);

  beforeEach(() => fixture.database.dataSource.query('DELETE FROM grants'));

  it('begins with unapplied revocations, followed by recently applied revocations, each newest first', async () => {
    const { userId, clientId } = fixture;
    const grant = () => fixture.grant(userId, clientId);
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

  it('contains each revocation once and in order across pages', async () => {
    expect(await within(HOUR)).toEqual([]);
    const ids = await revoked(MANY, 1);
    const found = await pages();
    expect(found.length).toBeGreaterThan(1);
    expect(found.flat().map(({ id }) => id)).toEqual(ids);
  });

  it('contains each revocation once across pages if one statement revoked all grants', async () => {
    const ids = await revoked(MANY, 0);
    expect((await within(HOUR)).toSorted()).toEqual(ids.toSorted());
  });

  it('contains each revocation once while revocations are marked as applied, and again for another process', async () => {
    const ids = await revoked(MANY, 1);
    const found = await pages(HOUR, (page) => fixture.grants.markApplied(page));
    expect(found.flat().map(({ id }) => id)).toEqual(ids);
    expect((await within(HOUR)).toSorted()).toEqual(ids.toSorted());
  });

  it('contains a revocation with an old timestamp that is committed late', async () => {
    const { database, userId, clientId } = fixture;
    const id = await fixture.grant(userId, clientId);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query("UPDATE grants SET revoked_at = now() - interval '2 hours' WHERE id = $1", [id]);
    expect(await within(0)).toEqual([]);
    await runner.commitTransaction();
    await runner.release();
    expect(await within(0)).toEqual([id]);
  });

  it('uses indexes instead of scanning all grants', async () => {
    const { database } = fixture;
    const ids = await revoked(300, 1000);
    await database.dataSource.query(
      'UPDATE grants SET revocation_applied_at = revoked_at WHERE id = ANY($1)',
      [ids.slice(100)],
    );
    await database.dataSource.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT rpad(md5('live' || i), 43, 'x'), $1, $2, '', '', now() + interval '1 day', interval '1 day'
       FROM generate_series(1, $3::integer) i`,
      [fixture.userId, fixture.clientId, 300],
    );
    // Indexes keep the pages of deleted entries, which raises the estimated cost of their scans.
    await database.dataSource.query('REINDEX TABLE grants');
    await database.dataSource.query('ANALYZE grants');
    const statements = await database.statementsWithValuesOf(() => pages(65_000));
    const plans: string[] = [];
    await database.dataSource.transaction(async (manager) => {
      // A scan of few rows would be as fast. PostgreSQL still scans if no index has the condition.
      await manager.query('SET LOCAL enable_seqscan = off');
      for (const { text, values } of statements.filter((statement) => statement.text.includes('LIMIT'))) {
        const plan = await manager.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${text}`, values);
        plans.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
      }
    });
    expect(plans[0]).toMatch(/Scan.* (?:using|on) grants_revocation_outstanding\b/);
    expect(plans.at(-1)).toMatch(/Scan.* (?:using|on) grants_revocation_applied\b/);
  });

  it('excludes live and unknown grants that were marked as applied', async () => {
    const id = await fixture.grant(fixture.userId, fixture.clientId);
    await fixture.grants.markApplied([id, 'x'.repeat(43)]);
    expect(await fixture.isRevoked(id)).toBe(false);
    expect(await within(HOUR)).toEqual([]);
  });
});

describe('the revocation of a client’s grants', () => {
  const fixture = useGrants();

  it('continues each batch after the last, and reads only the grants of the batch', async () => {
    const { database, userId, clientId, otherClientId } = fixture;
    await database.dataSource.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime, created_at)
       SELECT rpad(md5('client' || i), 43, 'x'), $1, CASE WHEN i <= $4 THEN $2 ELSE $3 END, '', '',
              now() + interval '1 day', interval '1 day', now() - (i % 100) * interval '1 second'
       FROM generate_series(1, $4::integer * 2) i`,
      [userId, clientId, otherClientId, MANY],
    );
    await database.dataSource.query('ANALYZE grants');
    const administration = new GrantAdministrationStore(database.dataSource);
    const batches: number[] = [];
    const revoke = () => administration.revoke({ clientId }, (revoked) => batches.push(revoked));
    const statements = await database.statementsWithValuesOf(revoke);
    expect(batches).toEqual([5_000, 5_000, 2_000]);
    const searches = statements.filter(({ text }) => text.includes('LIMIT'));
    for (const { text, values } of searches.slice(1)) {
      const plan = await database.dataSource.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${text}`, values);
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(
        /(?:on|using) grants_client\b.*\n.*Index Cond: .*created_at/,
      );
    }
    const [left] = await database.dataSource.query<{ live: number }[]>(
      'SELECT count(*)::integer AS live FROM grants WHERE revoked_at IS NULL AND client_id = $1',
      [otherClientId],
    );
    expect(left?.live).toBeGreaterThanOrEqual(MANY);
  });
});
