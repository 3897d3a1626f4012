import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { connect, databaseDataSource, REQUEST_LIMITS } from '#database/data-source.js';
import { migrate, pendingMigrations } from '#database/migrate.js';
import { isSchemaName } from '#platform/configuration/variables.js';
import { emptyDatabase } from '#test/support/test-database.js';
import { testServices } from '#test/support/test-services.js';

it('a schema name cannot need quotes or be reserved by PostgreSQL', () => {
  const good = ['oauth', '_a1', 'a'.repeat(63)];
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
    'a'.repeat(64),
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
    await expect(migrate(url, { schema: 'public' })).rejects.toThrow(
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
    await expect(migrate(url)).rejects.toThrow('the schema oauth of this database has tables');
  });

  it('accepts migrations by a role without the right to create schemas, if the schema exists', async () => {
    const role = `owner_${randomUUID().replaceAll('-', '')}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owns'; CREATE SCHEMA oauth AUTHORIZATION ${role}`);
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
    await expect(open).rejects.toThrow('the search_path is public, not DATABASE_SCHEMA');
    await expect(migrate(overridden)).rejects.toThrow('not DATABASE_SCHEMA');
    expect(await tablesOf('public')).toEqual([]);
  });

  it('is not migrated if another schema contains the tables of this service', async () => {
    await migrate(url, { schema: 'public' });
    const found =
      'the tables of this service are in the schema public of this database: set DATABASE_SCHEMA=public';
    await expect(migrate(url)).rejects.toThrow(found);
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
