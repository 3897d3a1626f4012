import { randomBytes, randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { blocked } from '#test/support/until.js';
import { withDatabase } from '#test/support/test-database.js';
import { refusalOf } from '../../database/test/support/open-database.js';
import { useGrants } from '../../grants/test/records/use-grants.js';

const ROUNDS = 60;

const fixture = useGrants();

const sql = <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
  fixture.database.dataSource.query<Row[]>(text, values);

const REMOVALS: [way: string, statement: string][] = [
  ['deleted', 'DELETE FROM users WHERE id = $1'],
  ['disabled', 'UPDATE users SET operator_disabled_at = now() WHERE id = $1'],
  ['disabled on behalf of the product', 'UPDATE users SET product_disabled_at = now() WHERE id = $1'],
  ['given another id', 'UPDATE users SET id = 1000000 + id WHERE id = $1'],
];

const isActive = async (id: number): Promise<boolean> =>
  (await sql('SELECT 1 FROM users WHERE id = $1 AND disabled_at IS NULL', [id])).length === 1;

async function inTransaction<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const runner = fixture.database.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    const result = await work(runner);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.release();
  }
}

const newRecord = () => ({
  id: randomBytes(32).toString('base64url'),
  userId: fixture.userId,
  clientId: fixture.clientId,
  scope: 'profile:read',
  requestedScope: 'profile:read',
  resources: null,
  expiresAt: new Date(Date.now() + 86_400_000),
});

describe('a user', () => {
  it.each(REMOVALS)('cannot be %s by plain SQL until all grants have ended', async (_way, statement) => {
    const { userId, clientId, otherClientId, grants } = fixture;
    const live = await fixture.grant(userId, clientId);
    const expired = await fixture.grant(userId, otherClientId, { days: -1 });
    const other = await fixture.grant(await fixture.user(), clientId);
    const refused = await refusalOf(sql(statement, [userId]));
    expect(refused).toMatchObject({ message: 'user_grants_not_ended', detail: `user ${userId}` });
    expect(await isActive(userId)).toBe(true);
    expect((await grants.find(expired))?.revokedAt).toBeNull();

    await grants.revoke(live);
    await sql(statement, [userId]);
    expect(await isActive(userId)).toBe(false);
    // The record outlives the user, because caches still need the revocation.
    expect(await grants.find(live)).toMatchObject({ userId, revokedAt: expect.any(Date) });
    // Redis may still consider this grant live, because a recent use may not be recorded yet.
    expect((await grants.find(expired))?.revokedAt).toBeInstanceOf(Date);
    expect((await grants.find(other))?.revokedAt).toBeNull();
  });

  it.each(REMOVALS)(
    'cannot be %s by a transaction whose snapshot may miss the newest grants',
    async (_way, statement) => {
      const { userId, clientId } = fixture;
      for (const isolation of ['REPEATABLE READ', 'SERIALIZABLE']) {
        const deletion = inTransaction(async (runner) => {
          await runner.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
          await runner.query('SELECT 1 FROM grants');
          await fixture.grant(userId, clientId);
          await runner.query(statement, [userId]);
        });
        expect((await refusalOf(deletion)).message).toBe('isolation_level_not_read_committed');
      }
      expect(await isActive(userId)).toBe(true);
    },
  );

  it('cannot be removed by TRUNCATE until all grants have ended', async () => {
    const { userId, clientId, otherClientId, grants } = fixture;
    await grants.revoke(await fixture.grant(userId, otherClientId));
    await sql('UPDATE grants SET revoked_at = now() WHERE revoked_at IS NULL');
    const live = await fixture.grant(userId, clientId);
    for (const statement of ['TRUNCATE users CASCADE', 'TRUNCATE users, grants CASCADE'])
      expect((await refusalOf(sql(statement))).message).toBe('user_grants_not_ended');
    // Owners refer to users.
    await expect(sql('TRUNCATE users')).rejects.toThrow('foreign key constraint');
    expect(await isActive(userId)).toBe(true);
    await grants.revoke(live);
    await sql('TRUNCATE users CASCADE');
    expect(await sql('SELECT 1 FROM users')).toEqual([]);
    expect((await grants.find(live))?.revokedAt).toBeInstanceOf(Date);
  });

  it('can be changed in other fields while grants are live', async () => {
    const { userId, clientId } = fixture;
    await fixture.grant(userId, clientId);
    await sql(`UPDATE users SET id = id, name = 'New', operator_disabled_at = NULL WHERE id = $1`, [userId]);
    expect(await isActive(userId)).toBe(true);
  });

  it('can be deleted and created, under these rules, by a role without privileges on grants', async () => {
    const { userId, clientId, grants, database } = fixture;
    const role = `provisions_${randomUUID().replaceAll('-', '')}`;
    await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'provisions'`);
    try {
      await sql(`GRANT USAGE ON SCHEMA oauth TO ${role}`);
      await sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON users TO ${role}`);
      const url = new URL(database.databaseUrl);
      [url.username, url.password] = [role, 'provisions'];
      const live = await fixture.grant(userId, clientId);
      await withDatabase(url.href, async (client) => {
        await expect(client.query('DELETE FROM users WHERE id = $1', [userId])).rejects.toThrow(
          'user_grants_not_ended',
        );
        // A temporary table of the same name must not hide the grants.
        await client.query(
          'CREATE TEMPORARY TABLE grants (user_id integer, revoked_at timestamptz, expires_at timestamptz)',
        );
        await expect(client.query('DELETE FROM users WHERE id = $1', [userId])).rejects.toThrow(
          'user_grants_not_ended',
        );
        await grants.revoke(live);
        await client.query('DELETE FROM users WHERE id = $1', [userId]);
        const again = `INSERT INTO users (id, username, email, name, password_hash) VALUES ($1, 'again', 'again@example.com', 'A', '$argon2id$')`;
        await expect(client.query(again, [userId])).rejects.toThrow('user_id_has_grants');
        await client.query(again, [userId + 1_000_000]);
      });
    } finally {
      await sql(`DROP OWNED BY ${role}`);
      await sql(`DROP ROLE ${role}`);
    }
  });
});

describe('a user id', () => {
  it('gets no new grants after its user is deleted or disabled', async () => {
    const { userId, clientId, otherClientId, grants } = fixture;
    await grants.revoke(await fixture.grant(userId, clientId));
    for (const [, statement] of REMOVALS.toReversed()) {
      const goneId = await fixture.user();
      await sql(statement, [goneId]);
      for (const continuesConsent of [false, true])
        expect(await grants.create({ ...newRecord(), userId: goneId, continuesConsent })).toBeNull();
      expect(await grants.create({ ...newRecord(), userId: goneId }, ['bookings:read'])).toBeNull();
      const insert = `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
        VALUES ($1, $2, $3, '', '', now() + interval '1 day', interval '1 day')`;
      const refused = await refusalOf(sql(insert, [newRecord().id, goneId, otherClientId]));
      expect(refused).toMatchObject({
        code: '23503',
        message: 'user_unknown_or_disabled',
        detail: `user ${goneId}`,
      });
      const given = sql('UPDATE grants SET user_id = $1 WHERE user_id = $2', [goneId, userId]);
      expect((await refusalOf(given)).code).toBe('23503');
    }
  });

  it('is not reused while grants with it are recorded', async () => {
    const { userId, clientId, grants } = fixture;
    const insert = `INSERT INTO users (id, username, email, name, password_hash) VALUES ($1, $2, $2 || '@b', 'A', '$argon2id$')`;
    const id = await fixture.grant(userId, clientId);
    await grants.revoke(id);
    await sql('DELETE FROM users WHERE id = $1', [userId]);
    const reused = await refusalOf(sql(insert, [userId, 'next']));
    expect(reused).toMatchObject({ message: 'user_id_has_grants', detail: `user ${userId}` });
    const other = await fixture.user();
    expect((await refusalOf(sql('UPDATE users SET id = $1 WHERE id = $2', [userId, other]))).code).toBe(
      '23505',
    );
    await grants.withdraw(id);
    await sql(insert, [userId, 'next']);
    await sql('UPDATE users SET id = -id WHERE id = $1', [other]);
  });

  it('is not reused while its user is being deleted', async () => {
    const { userId, clientId, grants, database } = fixture;
    const id = await fixture.grant(userId, clientId);
    const insert = `INSERT INTO users (id, username, email, name, password_hash) VALUES ($1, 'heir', 'heir@b', 'A', '$argon2id$')`;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    await runner.query('DELETE FROM users WHERE id = $1', [userId]);
    const inserting = refusalOf(sql(insert, [userId]));
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await inserting).code).toBe('23505');
    expect(await grants.find(id)).toMatchObject({ userId });
  });

  it('gets a new session generation each time it is reused', async () => {
    const insert = `INSERT INTO users (id, username, email, name, password_hash)
      VALUES ($1, 'same', 'same@b', 'A', '$argon2id$') RETURNING session_generation AS generation`;
    const generations = new Set<number>();
    for (let round = 0; round < 10; round++) {
      const [{ generation } = { generation: -1 }] = await sql<{ generation: number }>(insert, [5_000_000]);
      generations.add(generation);
      await sql('DELETE FROM users WHERE id = 5000000');
    }
    expect(generations.size).toBe(10);
  });
});

describe('recording a grant', () => {
  it.each(REMOVALS)(
    'prevents the user from being %s if the grant is recorded first',
    async (_way, statement) => {
      const { userId, grants, database } = fixture;
      const record = newRecord();
      const { rejected } = await inTransaction(async (runner) => {
        await runner.query(
          `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime) VALUES ($1, $2, $3, '', '', $4, interval '1 day')`,
          [record.id, userId, record.clientId, record.expiresAt],
        );
        const going = refusalOf(sql(statement, [userId]));
        await blocked(database);
        return { rejected: going };
      });
      expect((await rejected).message).toBe('user_grants_not_ended');
      expect(await isActive(userId)).toBe(true);
      expect((await grants.find(record.id))?.revokedAt).toBeNull();
    },
  );

  it.each(REMOVALS)('is rejected if the user was %s first', async (_way, statement) => {
    const { userId, grants, database } = fixture;
    const record = newRecord();
    const { recording } = await inTransaction(async (runner) => {
      await runner.query(statement, [userId]);
      const waiting = Promise.all([
        grants.create(record),
        grants.create({ ...record, id: newRecord().id }, ['bookings:read']),
      ]);
      await blocked(database, 2);
      return { recording: waiting };
    });
    expect(await recording).toEqual([null, null]);
    expect(await sql('SELECT 1 FROM grants WHERE user_id = $1', [userId])).toEqual([]);
  });

  it.each(REMOVALS)('succeeds if and only if the user is not %s, in any order', async (_way, statement) => {
    const { grants } = fixture;
    for (let round = 0; round < ROUNDS; round++) {
      const userId = await fixture.user();
      const record = { ...newRecord(), userId };
      const gone = sql(statement, [userId]).then(
        () => true,
        () => false,
      );
      const [recorded, isGone] = await Promise.all([
        grants.create(record, round % 2 === 0 ? [] : ['x']).then((ended) => ended !== null),
        gone,
      ]);
      expect({ round, recorded, isActive: await isActive(userId) }).toEqual({
        round,
        recorded: !isGone,
        isActive: !isGone,
      });
    }
  });
});
