import { until } from './until.js';

/** Maximum time until the statements wait. */
const WITHIN_MS = 120_000;

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

interface Database {
  /** Must not run in a transaction, in which PostgreSQL would return the first snapshot of the activity again. */
  sql(text: string): Promise<unknown[]>;
}

/** Resolves when at least `count` statements wait for a lock. */
export function blocked(database: Database, count = 1): Promise<void> {
  return until(
    `${count} statements wait for a lock`,
    WITHIN_MS,
    async () => (await database.sql(WAITING)).length >= count,
  );
}
