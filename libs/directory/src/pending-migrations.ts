import { type DataSource, MigrationExecutor } from 'typeorm';

const UNDEFINED_TABLE = '42P01';

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
