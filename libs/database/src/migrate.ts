import { escapeIdentifier } from 'pg';
import { type DataSource, type EntityManager, MigrationExecutor, type QueryRunner } from 'typeorm';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { connect, databaseDataSource } from './data-source.js';
import { grantRights } from './grant-rights.js';
import { MigrationRefusedError } from './migration-refused.error.js';
import { isUndefinedTable } from '#platform/postgres/postgres-errors.js';

// Number of an advisory lock: arbitrary, but unique in this database.
const MIGRATION_LOCK = 5_264_190_033;
const MIGRATION_LIMITS = { poolSize: 1, connectTimeoutMs: 5_000, statementTimeoutMs: 0 };

export interface MigrateOptions {
  /** Time limit for connecting; 10,000 ms by default. */
  retryForMs?: number;
  /** Schema, which `migrate` creates if missing; `oauth` by default. */
  schema?: string;
}

/**
 * Applies all pending migrations in one transaction under an advisory lock, and grants the roles of the processes their
 * rights. A concurrent run waits and then finds no pending migration. A failed migration is rolled back.
 * @param databaseUrl URL with a role that may create tables
 * @returns names of the migrations applied by this call, oldest first
 * @throws DependencyUnavailableError; MigrationRefusedError
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  return withDatabase(databaseUrl, options, async (dataSource, schema) => {
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      await createSchema(runner, schema);
      await assertNoForeignTables(runner, dataSource);
      if (schema === DEFAULT_SCHEMA) await assertNoSecondInstallation(runner, dataSource);
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'all';
      const applied = await executor.executePendingMigrations();
      // Rights on a missing column would hide that the tables are from an older version (`missingColumns`).
      if ((await missingColumnsOf(dataSource, runner.manager)).length === 0)
        await grantRights(runner, dataSource, schema);
      await runner.commitTransaction();
      return applied.map(({ name }) => name);
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  });
}

/** Returns the names, oldest first. Needs only read access. @throws DependencyUnavailableError */
export async function pendingMigrations(
  databaseUrl: string,
  options: MigrateOptions = {},
): Promise<string[]> {
  return withDatabase(databaseUrl, options, pendingMigrationsOf);
}

/**
 * Returns the columns, as `table.column`, that this version of the service needs and the database lacks.
 * @throws DependencyUnavailableError
 */
export async function missingColumns(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  return withDatabase(databaseUrl, options, (dataSource) => missingColumnsOf(dataSource, dataSource.manager));
}

async function missingColumnsOf(dataSource: DataSource, manager: EntityManager): Promise<string[]> {
  const rows = await manager.query<{ name: string }[]>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = current_schema()`,
  );
  const existing = new Set(rows.map(({ name }) => name));
  return dataSource.entityMetadatas
    .flatMap(({ tableName, columns }) => columns.map(({ databaseName }) => `${tableName}.${databaseName}`))
    .filter((name) => !existing.has(name));
}

async function withDatabase<Result>(
  databaseUrl: string,
  { retryForMs = 10_000, schema = DEFAULT_SCHEMA }: MigrateOptions,
  work: (dataSource: DataSource, schema: string) => Promise<Result>,
): Promise<Result> {
  const source = databaseDataSource(databaseUrl, MIGRATION_LIMITS, schema);
  const dataSource = await connect(source, databaseUrl, retryForMs);
  try {
    return await work(dataSource, schema);
  } finally {
    await dataSource.destroy();
  }
}

/** Like `pendingMigrations`, on an open connection. Ignores migrations of newer versions of the service. */
export async function pendingMigrationsOf(dataSource: DataSource): Promise<string[]> {
  try {
    const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
    return pending.map(({ name }) => name);
  } catch (error) {
    // A new database has no table of applied migrations yet.
    if (!isUndefinedTable(error)) throw error;
    return dataSource.migrations.map((migration) => migration.constructor.name);
  }
}

async function createSchema({ manager }: QueryRunner, schema: string): Promise<void> {
  // IF NOT EXISTS would require the CREATE privilege even if the schema exists.
  const schemas = await manager.query<unknown[]>('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (schemas.length === 0) await manager.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`);
}

/** Prevents a second set of empty tables in the default schema if the tables are in another schema. */
async function assertNoSecondInstallation({ manager }: QueryRunner, dataSource: DataSource): Promise<void> {
  const candidates = await manager.query<{ schema: string; ours: boolean }[]>(
    `SELECT n.nspname AS schema, n.nspname = current_schema() AS ours FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname = 'migrations' AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')
       AND has_table_privilege(c.oid, 'SELECT')`,
  );
  if (candidates.some(({ ours }) => ours)) return;
  for (const { schema } of candidates) {
    const applied = await manager.query<unknown[]>(
      `SELECT 1 FROM ${escapeIdentifier(schema)}.migrations m WHERE to_jsonb(m) ->> 'name' = ANY($1) LIMIT 1`,
      [dataSource.migrations.map((migration) => migration.constructor.name)],
    );
    if (applied.length > 0) throw new MigrationRefusedError({ reason: 'installed_elsewhere', schema });
  }
}

/** Rejects tables with our names that our migrations did not create, because they belong to another application. */
async function assertNoForeignTables({ manager }: QueryRunner, dataSource: DataSource): Promise<void> {
  const tables = await manager.query<{ schema: string; name: string }[]>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relname = ANY($1) ORDER BY 2`,
    [['migrations', ...dataSource.entityMetadatas.map(({ tableName }) => tableName)]],
  );
  const foreign = new Set(tables.map(({ name }) => name));
  if (foreign.has('migrations')) {
    // Another application's table may have any columns.
    const applied = await manager.query<{ ours: boolean }[]>(
      `SELECT coalesce(to_jsonb(m) ->> 'name' = ANY($1), false) AS ours FROM migrations m`,
      [dataSource.migrations.map((migration) => migration.constructor.name)],
    );
    if (applied.some(({ ours }) => ours)) return;
    if (applied.length === 0) foreign.delete('migrations');
  }
  if (foreign.size > 0)
    throw new MigrationRefusedError({
      reason: 'foreign_tables',
      schema: tables[0]?.schema ?? '',
      tables: [...foreign],
    });
}
