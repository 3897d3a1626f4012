import { Command, CommandRunner, Help } from 'nest-commander';
import { printLine } from '../command-line/output.js';
import { DatabaseSettings } from '../settings/settings.js';
import { SettingsReader } from '../settings/settings.reader.js';

/** Migrations are a step of their own, never part of a service's start. */
@Command({ name: 'migrate', description: "bring the database's tables up to date" })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly settings: SettingsReader) {
    super();
  }

  async run(): Promise<void> {
    const { DATABASE_URL } = this.settings.read(DatabaseSettings);
    const { migrate } = await import('#directory/migrate.js');
    const applied = await migrate(DATABASE_URL);
    for (const name of applied) printLine(`applied ${name}`);
    if (applied.length === 0) printLine('nothing to apply: the database is up to date');
  }

  @Help('after')
  examples(): string {
    return `
Safe to run from several places at once: one applies, the others wait and find nothing left.

Example:
  $ DATABASE_URL=postgres://… npm run -s operator -- migrate`;
  }
}
