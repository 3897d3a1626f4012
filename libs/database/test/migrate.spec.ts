import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Client } from 'pg';
import { connect, databaseDataSource, REQUEST_LIMITS } from '#database/data-source.js';
import { migrateDatabase } from '#database/operations/migration.service.js';
import { failureText } from '#operations/failure-text.js';
import { migrate, missingColumns, pendingMigrations } from '#database/migrate.js';
import { isSchemaName } from '#platform/configuration/variables.js';
import { emptyDatabase } from '#test/support/test-database.js';
import { testServices } from '#test/support/test-services.js';
import { openDatabase, type OpenDatabase } from './support/open-database.js';

const failureOf = (work: Promise<unknown>): Promise<string> => work.then(() => '', failureText);

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
      'client_history',
      'client_invitations',
      'client_logos',
      'client_owners',
      'client_request_messages',
      'client_requests',
      'client_secrets',
      'client_testers',
      'clients',
      'console_invitations',
      'deleted_identities',
      'ended_sessions',
      'event_stream_subjects',
      'event_streams',
      'events',
      'grants',
      'mails',
      'migrations',
      'refused_requests',
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
    await dataSource.query(
      'ALTER TABLE users ALTER COLUMN disabled_at DROP EXPRESSION, ALTER COLUMN has_password DROP EXPRESSION',
    );
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

describe('schema', () => {
  it('a schema name cannot need quotes or be reserved by PostgreSQL', () => {
    const good = ['oauth', '_a1', 'a'.repeat(50)];
    const bad = [
      '',
      'OAuth',
      '1a',
      'a-b',
      'a b',
      'a,public',
      "a'; --",
      'pg_catalog',
      'information_schema',
      'a'.repeat(51),
    ];
    expect(good.filter((name) => !isSchemaName(name))).toEqual([]);
    expect(bad.filter(isSchemaName)).toEqual([]);
  });

  describe('a database with tables of another application', () => {
    let url: string;
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    let admin: Client;

    beforeEach(async () => {
      database = await emptyDatabase(testServices());
      ({ url } = database);
      admin = new Client({ connectionString: url });
      await admin.connect();
    });

    afterEach(async () => {
      await admin.end();
      await database.drop();
    });

    const tablesOf = async (name: string): Promise<string[]> => {
      const { rows } = await admin.query<{ table_name: string }>(
        'SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1',
        [name],
      );
      return rows.map(({ table_name }) => table_name);
    };

    it.each([
      ['users', 'CREATE TABLE users (id serial PRIMARY KEY, login text)'],
      ['users', 'CREATE VIEW users AS SELECT 1 AS id'],
      ['migrations', `CREATE TABLE migrations AS SELECT 1 AS id, '2014_create_users' AS migration`],
      ['migrations', `CREATE TABLE migrations AS SELECT 1 AS id, 2::bigint AS timestamp, 'Init2' AS name`],
      ['grants, migrations', `CREATE TABLE grants (); CREATE TABLE migrations AS SELECT 1 AS id`],
    ])('is not migrated with existing tables or views (%s): %s', async (names, statement) => {
      await admin.query(statement);
      expect(await failureOf(migrateDatabase(url, 'public'))).toContain(
        `the schema public of this database has tables of another application (${names}): this service needs a schema of its ` +
          'own. Set DATABASE_SCHEMA',
      );
      expect(await tablesOf('public')).toEqual(names.split(', '));
    });

    it('is left unchanged by concurrent migrations', async () => {
      await admin.query('CREATE TABLE users (id serial PRIMARY KEY, login text)');
      await admin.query(`INSERT INTO users (login) VALUES ('ada')`);
      const all = await pendingMigrations(url);
      expect(all.length).toBeGreaterThan(0);
      const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url)));
      expect(applied.flat()).toEqual(all);
      expect(await pendingMigrations(url)).toEqual([]);
      expect(await tablesOf('public')).toEqual(['users']);
      const { rows } = await admin.query('SELECT * FROM users');
      expect(rows).toEqual([{ id: 1, login: 'ada' }]);
      expect(await tablesOf('oauth')).toEqual(
        expect.arrayContaining(['clients', 'grants', 'migrations', 'users']),
      );
    });

    it('is rejected if the tables are in the schema of this service', async () => {
      await admin.query('CREATE SCHEMA oauth; CREATE TABLE oauth.clients (id int)');
      await expect(migrate(url)).rejects.toMatchObject({
        obstacle: { reason: 'foreign_tables', schema: 'oauth', tables: ['clients'] },
      });
    });

    it('accepts migrations by a role without the right to create schemas, if the schema exists', async () => {
      const role = `owner_${randomUUID().replaceAll('-', '')}`;
      await admin.query(
        `CREATE ROLE ${role} LOGIN PASSWORD 'owns'; CREATE SCHEMA oauth AUTHORIZATION ${role}`,
      );
      const owner = new URL(url);
      [owner.username, owner.password] = [role, 'owns'];
      try {
        await expect(migrate(owner.href, { schema: 'another' })).rejects.toThrow('permission denied');
        expect((await migrate(owner.href)).length).toBeGreaterThan(0);
      } finally {
        await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    });

    it('is rejected if a pooler drops the requested search_path', async () => {
      // Simulates a pooler that ignores startup parameters.
      const overridden = `${url}?options=-c%20search_path%3Dpublic`;
      const open = connect(databaseDataSource(overridden, REQUEST_LIMITS), overridden, 5_000);
      await expect(open).rejects.toThrow('the search_path is public, not the schema oauth');
      await expect(migrate(overridden)).rejects.toThrow('not the schema oauth');
      expect(await tablesOf('public')).toEqual([]);
    });

    it('is not migrated if another schema contains the tables of this service', async () => {
      await migrate(url, { schema: 'public' });
      expect(await failureOf(migrateDatabase(url, 'oauth'))).toContain(
        'the tables of this service are in the schema public of this database: set DATABASE_SCHEMA=public',
      );
      expect(await tablesOf('oauth')).toEqual([]);
      expect(await migrate(url, { schema: 'public' })).toEqual([]);
      // Two installations with explicit schema names are intentional.
      expect(await migrate(url, { schema: 'second' })).not.toEqual([]);
    });

    it('is migrated if another schema contains the migrations of another application', async () => {
      await admin.query(`CREATE TABLE migrations AS SELECT 1 AS id, 'CreateUsers1' AS name`);
      expect(await migrate(url)).not.toEqual([]);
      expect(await migrate(url)).toEqual([]);
    });
  });
});
