import { setTimeout as sleep } from 'node:timers/promises';
import { invocation, OperatorCommand } from '../command-line/operator-command.js';
import { printLine } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { DatabaseSettings } from '../settings/settings.js';

const POLL_MS = 1_000;

/** Migrations are a separate step: no service applies them when it starts. */
export function migrateCommand(): OperatorCommand {
  return new OperatorCommand('migrate')
    .description("bring the database's tables up to date")
    .option('--wait', 'apply nothing, and wait until another process has applied everything')
    .notes('Safe to run several times at once: one run applies, the others wait and find nothing left.')
    .notes(`Example:\n  $ DATABASE_URL=postgres://… ${invocation()} migrate`)
    .action(({ wait = false }: { wait?: boolean }) => (wait ? waitForMigrations() : applyMigrations()));
}

async function applyMigrations(): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = readSettings(DatabaseSettings);
  const { migrate } = await import('#database/connection/migrate.js');
  const applied = await migrate(DATABASE_URL, { schema });
  for (const name of applied) printLine(`applied ${name}`);
  if (applied.length === 0) printLine('nothing to apply: the database is up to date');
}

async function waitForMigrations(): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = readSettings(DatabaseSettings);
  const { pendingMigrations } = await import('#database/connection/migrate.js');
  for (let reported = ''; ; await sleep(POLL_MS)) {
    const pending = (await pendingMigrations(DATABASE_URL, { schema })).join(', ');
    if (pending === '') return printLine('the database is up to date');
    if (pending !== reported) printLine(`waiting for ${pending}`);
    reported = pending;
  }
}
