import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { directoryDataSource } from '#directory/data-source.js';
import { migrate } from '#directory/migrate.js';
import { openDirectory, type OpenDirectory } from './open-directory.js';

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

  it('applies every migration once, however many places run it at once', async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(directory.databaseUrl)));
    expect(applied.flat()).toEqual(dataSource.migrations.map((migration) => migration.constructor.name));
    expect(await tables()).toEqual([
      'client_secrets',
      'clients',
      'grants',
      'migrations',
      'resource_servers',
      'users',
    ]);
  });

  it('has nothing to do the second time', async () => {
    await migrate(directory.databaseUrl);
    expect(await migrate(directory.databaseUrl)).toEqual([]);
  });

  it('leaves no trace of a migration that failed', async () => {
    // The users table comes third: clients and client_secrets have been made by then.
    await dataSource.query('CREATE TABLE users (id integer)');
    await expect(migrate(directory.databaseUrl)).rejects.toThrow('relation "users" already exists');
    expect(await tables()).toEqual(['migrations', 'users']);
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
