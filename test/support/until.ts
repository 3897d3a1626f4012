import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the check returns true without an error. The last check begins after the deadline. */
export async function until(
  what: string,
  withinMs: number,
  ask: () => Promise<boolean> | boolean,
): Promise<void> {
  let last: unknown;
  const end = Date.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const isLast = Date.now() >= end;
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
    if (isLast) throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last });
    await sleep(pauseMs);
  }
}

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
