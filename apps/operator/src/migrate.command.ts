import { setTimeout as sleep } from 'node:timers/promises';
import { MigrateSettings } from '#database/operations/migrate.settings.js';
import { actor, printChange } from './command-line/change.js';
import { OperatorCommand } from './command-line/operator-command.js';
import { type JsonOption, printLine, printResult, warn } from './command-line/output.js';
import { withAdministration } from './connections/administration.js';
import { DatabaseSettings, readSettings } from './settings/settings.js';

const POLL_MS = 1_000;

/** Migrations are a separate step: no service applies them at startup. */
export function migrateCommand(): OperatorCommand {
  return new OperatorCommand('migrate')
    .description("bring the database's tables and the streams of the audit trail up to date")
    .option('--wait', 'apply nothing, and wait until another process has applied everything')
    .jsonOption('print JSON: the names of the migrations that were applied, and whether there are streams')
    .notes('Safe to run several times at once: one run applies, the others wait and find nothing left.')
    .examples('migrate', 'migrate --wait')
    .action(({ wait = false, ...options }: JsonOption & { wait?: boolean }) =>
      wait ? waitForMigrations(options) : applyMigrations(options),
    );
}

async function applyMigrations(options: JsonOption): Promise<void> {
  const change = await withAdministration(MigrateSettings, ({ migrations }) => migrations.migrate(actor()));
  await printChange(change, (result) => {
    const { applied, streams } = result;
    printResult(options, result, () => {
      for (const name of applied) printLine(`applied ${name}`);
      if (applied.length === 0) printLine('nothing to apply: the database is up to date');
      if (streams) printLine('the streams of the audit trail are up to date');
    });
    if (!streams)
      warn('AUDIT_NATS_URL is not set: the streams of the audit trail were not created or updated');
  });
}

async function waitForMigrations(options: JsonOption): Promise<void> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = readSettings(DatabaseSettings);
  const { pendingMigrations } = await import('#database/migrate.js');
  for (let reported = ''; ; await sleep(POLL_MS)) {
    const pending = (await pendingMigrations(DATABASE_URL, { schema })).join(', ');
    if (pending === '') break;
    if (pending !== reported && !options.json) printLine(`waiting for ${pending}`);
    reported = pending;
  }
  printResult(options, { applied: [] }, () => printLine('the database is up to date'));
}
