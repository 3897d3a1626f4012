import { setTimeout as sleep } from 'node:timers/promises';
import { recordCommand } from '../audit/record-command.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printLine, printResult, type JsonOption } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { DatabaseSettings } from '../settings/settings.js';

const POLL_MS = 1_000;

/** Migrations are a separate step: no service applies them when it starts. */
export function migrateCommand(): OperatorCommand {
  return new OperatorCommand('migrate')
    .description("bring the database's tables up to date")
    .option('--wait', 'apply nothing, and wait until another process has applied everything')
    .jsonOption('print JSON: the names of the migrations that were applied')
    .notes('Safe to run several times at once: one run applies, the others wait and find nothing left.')
    .examples('migrate', 'migrate --wait')
    .action(({ wait = false, ...options }: JsonOption & { wait?: boolean }) =>
      wait ? waitForMigrations(options) : applyMigrations(options),
    );
}

async function applyMigrations(options: JsonOption): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = readSettings(DatabaseSettings);
  const { migrate } = await import('#database/connection/migrate.js');
  const applied = await migrate(DATABASE_URL, { schema });
  printResult(options, { applied }, () => {
    for (const name of applied) printLine(`applied ${name}`);
    if (applied.length === 0) printLine('nothing to apply: the database is up to date');
  });
  // Migrations need the database only, and run before NATS is there.
  const { NATS_URL } = process.env;
  if (NATS_URL && applied.length > 0)
    await recordCommand(NATS_URL, { type: 'operator.command', detail: { command: 'migrate', applied } });
}

async function waitForMigrations(options: JsonOption): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = readSettings(DatabaseSettings);
  const { pendingMigrations } = await import('#database/connection/migrate.js');
  for (let reported = ''; ; await sleep(POLL_MS)) {
    const pending = (await pendingMigrations(DATABASE_URL, { schema })).join(', ');
    if (pending === '') break;
    if (pending !== reported && !options.json) printLine(`waiting for ${pending}`);
    reported = pending;
  }
  printResult(options, { applied: [] }, () => printLine('the database is up to date'));
}
