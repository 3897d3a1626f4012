import { blocked, refusalOf } from '../connection/open-database.js';
import { useGrants } from '../grant/use-grants.js';

const fixture = useGrants();

const sql = <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
  fixture.database.dataSource.query<Row[]>(text, values);

const exists = async (clientId: string): Promise<boolean> =>
  (await sql('SELECT 1 FROM clients WHERE client_id = $1', [clientId])).length === 1;

describe('deleting a client by plain SQL', () => {
  const DELETE = 'DELETE FROM clients WHERE client_id = $1';

  it('is rejected while a live or revoked grant to it is recorded', async () => {
    const { mine, one, two, grants } = fixture;
    const id = await fixture.grant(mine, one);
    for (const revoke of [false, true]) {
      if (revoke) await grants.revoke(id);
      const { message, hint } = await refusalOf(sql(DELETE, [one]));
      expect(message).toBe(`client ${one} has grants on record, which are what revokes their tokens`);
      expect(hint).toBe('Run "operator client delete" instead: it ends the grants, and keeps the row.');
    }
    expect(await exists(one)).toBe(true);
    expect(await grants.find(id)).toMatchObject({ clientId: one });
    await sql(DELETE, [two]);
    expect(await exists(two)).toBe(false);
  });

  it('is rejected for TRUNCATE CASCADE, which would delete the grants too', async () => {
    const { mine, one, grants } = fixture;
    const id = await fixture.grant(mine, one);
    const { hint } = await refusalOf(sql('TRUNCATE clients CASCADE'));
    expect(hint).toContain('operator client delete');
    expect(await grants.find(id)).not.toBeNull();
  });

  it('is rejected if a grant is recorded concurrently', async () => {
    const { mine, one, grants, database } = fixture;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    const id = 'g'.repeat(43);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       VALUES ($1, $2, $3, '', '', now() + interval '1 day', interval '1 day')`,
      [id, mine, one],
    );
    const deleting = refusalOf(sql(DELETE, [one]));
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await deleting).code).toMatch(/^23/);
    expect(await exists(one)).toBe(true);
    expect(await grants.find(id)).toMatchObject({ clientId: one, revokedAt: null });
  });
});

describe('a client that is being disabled', () => {
  it('gets no concurrent or later grant until it is enabled', async () => {
    const { mine, one, grants, database } = fixture;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE clients SET disabled_at = now() WHERE client_id = $1', [one]);
    const record = (id: string, declined: readonly string[] = []) => {
      const grant = { id: id.repeat(43), userId: mine, clientId: one, scope: 'a', requestedScope: 'a b' };
      const expiresAt = new Date(Date.now() + 60_000);
      const full = { ...grant, resources: null, expiresAt };
      return grants.create(full, declined);
    };
    const recording = [record('h'), record('i', ['b'])];
    await blocked(database, 2);
    await runner.commitTransaction();
    await runner.release();
    expect(await Promise.all(recording)).toEqual([null, null]);
    expect([await record('h'), await record('i', ['b'])]).toEqual([null, null]);
    await sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [one]);
    const ended = { declined: [], aboveLimit: [] };
    expect([await record('h'), await record('i', ['b'])]).toEqual([ended, ended]);
  });
});
