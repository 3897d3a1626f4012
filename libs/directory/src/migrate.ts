import { escapeIdentifier } from 'pg';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { connect } from './connect.js';
import { directoryDataSource } from './data-source.js';

// Any constant that nothing else locks on this database.
const MIGRATION_LOCK = 5_264_190_033;
const UNDEFINED_TABLE = '42P01';
const MIGRATION_LIMITS = { poolSize: 1, connectTimeoutMs: 5_000, statementTimeoutMs: 0 };

export interface MigrateOptions {
  /** For how long to wait for the database to come up, in milliseconds; 10 000 when absent. */
  retryForMs?: number;
  /** Where the tables are, made when it is not there; when empty, where the role's `search_path` begins. */
  schema?: string;
}

/**
 * Brings the database's schema up to date. A step of its own, safe to run from several places at once: one
 * transaction holds an advisory lock and every pending migration, so the others wait and find nothing left,
 * and a failed migration leaves no trace.
 *
 * @param databaseUrl PostgreSQL connection URL of a role that may create tables
 * @returns the names of the migrations applied by this call, oldest first
 * @throws DatabaseUnavailableError when the database cannot be reached; Error when tables of somebody else are there
 */
export async function migrate(
  databaseUrl: string,
  { retryForMs = 10_000, schema = '' }: MigrateOptions = {},
): Promise<string[]> {
  const dataSource = await connect(
    directoryDataSource(databaseUrl, MIGRATION_LIMITS, schema),
    databaseUrl,
    retryForMs,
  );
  try {
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      if (schema) await makeSchema(runner, schema);
      await refuseForeignTables(runner, dataSource);
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'all';
      const applied = await executor.executePendingMigrations();
      await runner.commitTransaction();
      return applied.map(({ name }) => name);
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/**
 * The migrations of this version that the database lacks, oldest first. Changes nothing, and needs a role that may only
 * read: how a process finds out whether it may start.
 *
 * @throws DatabaseUnavailableError when the database cannot be reached
 */
export async function pendingMigrations(
  databaseUrl: string,
  { retryForMs = 10_000, schema = '' }: MigrateOptions = {},
): Promise<string[]> {
  const dataSource = await connect(
    directoryDataSource(databaseUrl, MIGRATION_LIMITS, schema),
    databaseUrl,
    retryForMs,
  );
  try {
    return await pendingOf(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** The migrations of this version that a connected database lacks, oldest first. Changes nothing; those of later versions do not count. */
export async function pendingOf(dataSource: DataSource): Promise<string[]> {
  try {
    const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
    return pending.map(({ name }) => name);
  } catch (error) {
    // No migration has ever been applied: there is not even the table that names them.
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
    return dataSource.migrations.map((migration) => migration.constructor.name);
  }
}

async function makeSchema({ manager }: QueryRunner, schema: string): Promise<void> {
  // Not IF NOT EXISTS, which asks for the right to make one even where it is there.
  const found = await manager.query<unknown[]>('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (found.length === 0) await manager.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`);
}

/** What has the name of a table of ours, and was made by none of our migrations, belongs to another application. */
async function refuseForeignTables({ manager }: QueryRunner, dataSource: DataSource): Promise<void> {
  const found = await manager.query<{ schema: string; name: string }[]>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relname = ANY($1) ORDER BY 2`,
    [['migrations', ...dataSource.entityMetadatas.map(({ tableName }) => tableName)]],
  );
  const foreign = new Set(found.map(({ name }) => name));
  if (foreign.has('migrations')) {
    // Another application's table may have any columns.
    const applied = await manager.query<{ ours: boolean }[]>(
      `SELECT coalesce(to_jsonb(m) ->> 'name' = ANY($1), false) AS ours FROM migrations m`,
      [dataSource.migrations.map((migration) => migration.constructor.name)],
    );
    if (applied.some(({ ours }) => ours)) return;
    if (applied.length === 0) foreign.delete('migrations');
  }
  if (foreign.size === 0) return;
  throw new Error(
    `the schema ${found[0]?.schema} of this database has tables of another application (${[...foreign].join(', ')}): this ` +
      'service needs a database of its own, or a schema of its own in this one. For that set DATABASE_SCHEMA, for every app ' +
      'and command, to a name that is new there, such as oauth: migrate makes it',
  );
}
