import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { databaseDataSource } from '#database/data-source.js';
import { migrate, missingColumns, pendingMigrations } from '#database/migrate.js';
import { openDatabase, type OpenDatabase } from './support/open-database.js';

describe('migrate', () => {
  let database: OpenDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await openDatabase();
    ({ dataSource } = database);
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
  });
  afterEach(() => database.close());

  const tables = async (): Promise<string[]> =>
    (
      await dataSource.query<{ name: string }[]>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'oauth' ORDER BY 1`,
      )
    ).map(({ name }) => name);

  // @reliability race-migrations
  it('applies every migration once when run concurrently', async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(database.databaseUrl)));
    expect(applied.flat()).toEqual(dataSource.migrations.map((migration) => migration.constructor.name));
    expect(await tables()).toEqual([
      'audit_chunks',
      'audit_counts',
      'client_logos',
      'client_secrets',
      'clients',
      'console_invitations',
      'deleted_identities',
      'event_stream_subjects',
      'event_streams',
      'events',
      'grants',
      'migrations',
      'resource_servers',
      'subject_sectors',
      'token_keys',
      'usage_days',
      'users',
    ]);
  });

  it('reports pending migrations to a read-only role, before the first and after the last migration', async () => {
    await dataSource.query('DROP TABLE migrations');
    const role = `reader_${randomUUID().replaceAll('-', '')}`;
    await dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'reads'`);
    try {
      await dataSource.query(`GRANT USAGE ON SCHEMA oauth TO ${role}`);
      await dataSource.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA oauth GRANT SELECT ON TABLES TO ${role}`);
      const reader = new URL(database.databaseUrl);
      [reader.username, reader.password] = [role, 'reads'];
      const all = dataSource.migrations.map((migration) => migration.constructor.name);
      expect(await pendingMigrations(reader.href)).toEqual(all);
      await migrate(database.databaseUrl);
      expect(await pendingMigrations(reader.href)).toEqual([]);
      await dataSource.undoLastMigration();
      expect(await pendingMigrations(reader.href)).toEqual(all.slice(-1));
    } finally {
      await dataSource.query(`DROP OWNED BY ${role}`);
      await dataSource.query(`DROP ROLE ${role}`);
    }
  });

  it('applies nothing the second time', async () => {
    await migrate(database.databaseUrl);
    expect(await migrate(database.databaseUrl)).toEqual([]);
  });

  it('rolls back a failed migration', async () => {
    // This table has the name of an index that the migration creates after its first tables.
    await dataSource.query('CREATE TABLE grants_user (id integer)');
    await expect(migrate(database.databaseUrl)).rejects.toThrow('relation "grants_user" already exists');
    expect(await tables()).toEqual(['grants_user', 'migrations']);
  });

  it('creates the tables, columns, indexes and foreign keys of the entities', async () => {
    await migrate(database.databaseUrl);
    // Entities declare neither check constraints, whose expressions TypeORM does not compare, nor generated columns,
    // for which TypeORM would create a table in every installation.
    const checks = await dataSource.query<{ table: string; name: string }[]>(
      `SELECT conrelid::regclass AS table, conname AS name FROM pg_constraint
       WHERE contype = 'c' AND connamespace = 'oauth'::regnamespace`,
    );
    for (const { table, name } of checks)
      await dataSource.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    await dataSource.query('ALTER TABLE users ALTER COLUMN disabled_at DROP EXPRESSION');
    const runner = dataSource.createQueryRunner();
    const query = runner.query.bind(runner);
    let previous: Promise<unknown> = Promise.resolve();
    // The schema builder sends queries concurrently on one connection, which pg deprecates.
    runner.query = (...given: Parameters<typeof query>) => (previous = previous.then(() => query(...given)));
    jest.spyOn(dataSource, 'createQueryRunner').mockReturnValue(runner);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('reports the columns that this version of the service needs and the database lacks', async () => {
    await migrate(database.databaseUrl);
    expect(await missingColumns(database.databaseUrl)).toEqual([]);
    await dataSource.query('ALTER TABLE clients DROP COLUMN dpop_bound CASCADE');
    expect(await missingColumns(database.databaseUrl)).toEqual(['clients.dpop_bound']);
    await dataSource.query('ALTER TABLE clients ADD COLUMN dpop_bound boolean');
  });

  it('names the server but not the password if the database is unavailable', async () => {
    const url = new URL(database.databaseUrl);
    url.password = `wrong-${randomUUID()}`;
    url.pathname = '/no_such_database';
    const error = await migrate(url.href, { retryForMs: 0 }).catch((error: unknown) => error);
    expect(String(error)).toContain(`${url.hostname}:${url.port}/no_such_database`);
    expect(String(error)).toContain('check DATABASE_URL');
    expect(String(error)).not.toContain(url.password);
  });

  it('prevents TypeORM from changing the schema', () => {
    const { options } = databaseDataSource(database.databaseUrl);
    expect(options).toMatchObject({ synchronize: false, installExtensions: false });
    expect(options.migrationsRun).toBeUndefined();
  });
});
