import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { connect, databaseDataSource, REQUEST_LIMITS } from '#database/connection/data-source.js';
import { migrate, pendingMigrations } from '#database/connection/migrate.js';
import { isSchemaName } from '#platform/configuration/variables.js';
import { emptyDatabase } from '#testing/own-database.js';
import { testServices } from '#testing/test-services.js';

const schema = 'oauth';

it('a schema name needs no quotes and is not one of PostgreSQL’s own', () => {
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
  ])('is not migrated: %s by %s', async (names, statement) => {
    await admin.query(statement);
    await expect(migrate(url)).rejects.toThrow(
      `the schema public of this database has tables of another application (${names}): this service needs a database or ` +
        'a schema of its own. Use another database, or set DATABASE_SCHEMA',
    );
    expect(await tablesOf('public')).toEqual(names.split(', '));
  });

  it('is left unchanged by migrations into a separate schema, however many processes run them at once', async () => {
    await admin.query('CREATE TABLE users (id serial PRIMARY KEY, login text)');
    const all = await pendingMigrations(url, { schema });
    expect(all.length).toBeGreaterThan(0);
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, { schema })));
    expect(applied.flat()).toEqual(all);
    expect(await pendingMigrations(url, { schema })).toEqual([]);
    expect(await tablesOf('public')).toEqual(['users']);
    expect(await tablesOf(schema)).toEqual(
      expect.arrayContaining(['clients', 'grants', 'migrations', 'users']),
    );
  });

  it('is refused when the configured schema has tables of another application', async () => {
    await admin.query('CREATE SCHEMA oauth; CREATE TABLE oauth.clients (id int)');
    await expect(migrate(url, { schema })).rejects.toThrow('the schema oauth of this database has tables');
  });

  it('accepts migrations by a role that may not create schemas, if the schema exists', async () => {
    const role = `owner_${randomUUID().replaceAll('-', '')}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owns'; CREATE SCHEMA oauth AUTHORIZATION ${role}`);
    const owner = new URL(url);
    [owner.username, owner.password] = [role, 'owns'];
    try {
      await expect(migrate(owner.href, { schema: 'another' })).rejects.toThrow('permission denied');
      expect((await migrate(owner.href, { schema })).length).toBeGreaterThan(0);
    } finally {
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('is refused when a pooler drops the search_path that connections ask for', async () => {
    // As a pooler that ignores startup parameters does.
    const overridden = `${url}?options=-c%20search_path%3Dpublic`;
    const open = connect(databaseDataSource(overridden, REQUEST_LIMITS, schema), overridden, 5_000);
    await expect(open).rejects.toThrow('the search_path is public, not DATABASE_SCHEMA');
    await expect(migrate(overridden, { schema })).rejects.toThrow('not DATABASE_SCHEMA');
    expect(await tablesOf('public')).toEqual([]);
  });
});
