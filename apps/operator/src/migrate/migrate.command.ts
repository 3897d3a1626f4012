import { setTimeout as sleep } from 'node:timers/promises';
import { Command, CommandRunner, Help, Option } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { printLine } from '../command-line/output.js';
import { DatabaseSettings } from '../settings/settings.js';
import { SettingsReader } from '../settings/settings.reader.js';

const LOOK_AGAIN_MS = 1_000;

interface Options {
  wait?: boolean;
}

/** Migrations are a step of their own, never part of a service's start. */
@Command({ name: 'migrate', description: "bring the database's tables up to date" })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly settings: SettingsReader) {
    super();
  }

  async run(_arguments: string[], { wait = false }: Options): Promise<void> {
    const { DATABASE_URL, DATABASE_SCHEMA: schema } = this.settings.read(DatabaseSettings);
    const { migrate, pendingMigrations } = await import('#database/connection/migrate.js');
    if (wait) {
      for (let told = ''; ; await sleep(LOOK_AGAIN_MS)) {
        const pending = (await pendingMigrations(DATABASE_URL, { schema })).join(', ');
        if (pending === '') return printLine('the database is up to date');
        if (pending !== told) printLine(`waiting for ${pending}`);
        told = pending;
      }
    }
    const applied = await migrate(DATABASE_URL, { schema });
    for (const name of applied) printLine(`applied ${name}`);
    if (applied.length === 0) printLine('nothing to apply: the database is up to date');
  }

  @Option({
    flags: '--wait',
    description: 'apply nothing: wait until another place has applied everything',
  })
  parseWait(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
Safe to run from several places at once: one applies, the others wait and find nothing left.

Example:
  $ DATABASE_URL=postgres://… ${invocation()} migrate`;
  }
}
