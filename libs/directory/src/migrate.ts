import { type DataSource, MigrationExecutor } from 'typeorm';
import { connect } from './connect.js';
import { directoryDataSource } from './data-source.js';

// Any constant that nothing else locks on this database.
const MIGRATION_LOCK = 5_264_190_033;
const UNDEFINED_TABLE = '42P01';
const MIGRATION_LIMITS = { poolSize: 1, connectTimeoutMs: 5_000, statementTimeoutMs: 0 };

/**
 * Brings the database's schema up to date. A step of its own, safe to run from several places at once: one
 * transaction holds an advisory lock and every pending migration, so the others wait and find nothing left,
 * and a failed migration leaves no trace.
 *
 * @param databaseUrl PostgreSQL connection URL of a role that may create tables
 * @param options `retryForMs`: how long to wait for the database to come up, 10 000 when absent
 * @returns the names of the migrations applied by this call, oldest first
 * @throws DatabaseUnavailableError when the database cannot be reached
 */
export async function migrate(databaseUrl: string, { retryForMs = 10_000 } = {}): Promise<string[]> {
  const dataSource = await connect(
    directoryDataSource(databaseUrl, MIGRATION_LIMITS),
    databaseUrl,
    retryForMs,
  );
  try {
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
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
 * @param options `retryForMs`: how long to wait for the database to come up, 10 000 when absent
 * @throws DatabaseUnavailableError when the database cannot be reached
 */
export async function pendingMigrations(
  databaseUrl: string,
  { retryForMs = 10_000 } = {},
): Promise<string[]> {
  const dataSource = await connect(
    directoryDataSource(databaseUrl, MIGRATION_LIMITS),
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
