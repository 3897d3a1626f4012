import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { directoryDataSource } from '#database/connection/data-source.js';
import { migrate, pendingMigrations } from '#database/connection/migrate.js';
import { openDirectory, type OpenDirectory } from './open-database.js';

describe('migrate', () => {
  let directory: OpenDirectory;
  let dataSource: DataSource;

  beforeEach(async () => {
    directory = await openDirectory();
    ({ dataSource } = directory);
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
  });
  afterEach(() => directory.close());

  const tables = async (): Promise<string[]> =>
    (
      await dataSource.query<{ name: string }[]>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
      )
    ).map(({ name }) => name);

  /** Takes back all migrations from this one on. */
  const undoTo = async (name: string): Promise<void> => {
    const names = dataSource.migrations.map((migration) => migration.constructor.name);
    for (const _ of names.slice(names.indexOf(name))) await dataSource.undoLastMigration();
  };

  it('applies every migration once, however many places run it at once', async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(directory.databaseUrl)));
    expect(applied.flat()).toEqual(dataSource.migrations.map((migration) => migration.constructor.name));
    expect(await tables()).toEqual([
      'client_logos',
      'client_secrets',
      'clients',
      'grants',
      'migrations',
      'resource_servers',
      'users',
    ]);
  });

  it('tells a role that may only read what is missing, before the first migration and after the last', async () => {
    await dataSource.query('DROP TABLE migrations');
    const role = `reader_${randomUUID().replaceAll('-', '')}`;
    await dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'reads'`);
    try {
      await dataSource.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ${role}`);
      const reader = new URL(directory.databaseUrl);
      [reader.username, reader.password] = [role, 'reads'];
      const all = dataSource.migrations.map((migration) => migration.constructor.name);
      expect(await pendingMigrations(reader.href)).toEqual(all);
      await migrate(directory.databaseUrl);
      expect(await pendingMigrations(reader.href)).toEqual([]);
      await dataSource.undoLastMigration();
      expect(await pendingMigrations(reader.href)).toEqual(all.slice(-1));
    } finally {
      await dataSource.query(`DROP OWNED BY ${role}`);
      await dataSource.query(`DROP ROLE ${role}`);
    }
  });

  it('has nothing to do the second time', async () => {
    await migrate(directory.databaseUrl);
    expect(await migrate(directory.databaseUrl)).toEqual([]);
  });

  it('leaves no trace of a migration that failed', async () => {
    // That index comes late: four tables have been made by then.
    await dataSource.query('CREATE TABLE grants_user (id integer)');
    await expect(migrate(directory.databaseUrl)).rejects.toThrow('relation "grants_user" already exists');
    expect(await tables()).toEqual(['grants_user', 'migrations']);
  });

  it('makes the columns that the entities read and write', async () => {
    await migrate(directory.databaseUrl);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    const ofColumns = upQueries
      .map(({ query }) => query)
      .filter(
        (query) => /COLUMN|CREATE TABLE/.test(query) && !query.endsWith('ALTER COLUMN "id" DROP DEFAULT'),
      );
    expect(ofColumns).toEqual([]);
  });

  it('leaves what users allowed before as asked for, also what the version before still records', async () => {
    await migrate(directory.databaseUrl);
    await undoTo('Pages1795320000000');
    await dataSource.query(
      `INSERT INTO clients (client_id, name, type, redirect_uris) VALUES ('c', 'C', 'public', '{x}')`,
    );
    await dataSource.query(
      `INSERT INTO users (id, username, email, name, password_hash) VALUES (1, 'a', 'a@b', 'A', '$argon2id$')`,
    );
    const insert = `INSERT INTO grants (id, user_id, client_id, scope, expires_at, lifetime)
      VALUES ($1, 1, 'c', $2, now() + interval '1 day', interval '1 day')`;
    await dataSource.query(insert, ['a'.repeat(43), 'profile:read']);
    await migrate(directory.databaseUrl);
    await dataSource.query(insert, ['b'.repeat(43), 'bookings:read']);
    expect(await dataSource.query('SELECT asked_scope FROM grants ORDER BY id')).toEqual([
      { asked_scope: 'profile:read' },
      { asked_scope: 'bookings:read' },
    ]);
    await undoTo('Pages1795320000000');
    expect(await dataSource.query('SELECT scope FROM grants ORDER BY id')).toHaveLength(2);
  });

  it('takes the rule that users go after their grants back and forth, and what users left with it', async () => {
    await migrate(directory.databaseUrl);
    await dataSource.query(
      `INSERT INTO clients (client_id, name, type, redirect_uris) VALUES ('c', 'C', 'public', '{x}')`,
    );
    for (const id of [1, 2]) {
      await dataSource.query(
        `INSERT INTO users (id, username, email, name, password_hash) VALUES ($1, $2, $2 || '@b', 'A', '$argon2id$')`,
        [id, `u${id}`],
      );
      await dataSource.query(
        `INSERT INTO grants (id, user_id, client_id, scope, expires_at, lifetime, revoked_at)
         VALUES (repeat($2, 43), $1, 'c', '', now() + interval '1 day', interval '1 day', now())`,
        [id, String(id)],
      );
    }
    await dataSource.query('DELETE FROM users WHERE id = 1');
    await undoTo('GoneUsers1795330000000');
    const left = async () =>
      (await dataSource.query<{ user: number }[]>('SELECT user_id AS "user" FROM grants')).map(
        ({ user }) => user,
      );
    expect(await left()).toEqual([2]);
    await migrate(directory.databaseUrl);
    await dataSource.query('DELETE FROM users');
    expect(await left()).toEqual([2]);
  });

  it('names the server and not the password when the database cannot be used', async () => {
    const url = new URL(directory.databaseUrl);
    url.password = `wrong-${randomUUID()}`;
    url.pathname = '/no_such_database';
    const error = await migrate(url.href, { retryForMs: 0 }).catch((error: unknown) => error);
    expect(String(error)).toContain(`${url.hostname}:${url.port}/no_such_database`);
    expect(String(error)).toContain('check DATABASE_URL');
    expect(String(error)).not.toContain(url.password);
  });

  it('never lets TypeORM change the schema', () => {
    const { options } = directoryDataSource(directory.databaseUrl);
    expect(options).toMatchObject({ synchronize: false, installExtensions: false });
    expect(options.migrationsRun).toBeUndefined();
  });
});
