import { CommanderError } from 'commander';
import { EXIT } from './exit-code.js';
import { FindingsError, IncompleteError, InputError } from './input.js';
import { invocation } from './operator-command.js';
import { styled } from './style.js';

/** SQLSTATE undefined_table and undefined_column. */
const UNDEFINED: ReadonlySet<unknown> = new Set(['42P01', '42703']);

/**
 * Writes to stderr why a command failed and what to do about it, without stack traces and credentials.
 *
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written the message or the requested help.
    return error.exitCode === 0 ? EXIT.done : EXIT.wrongInput;
  }
  if (error instanceof IncompleteError) return EXIT.incomplete;
  if (error instanceof FindingsError) return EXIT.findings;
  if (error instanceof InputError) {
    for (const problem of error.problems) writeError(problem);
    return EXIT.wrongInput;
  }
  writeError(explain(error));
  return EXIT.failed;
}

function writeError(text: string): void {
  process.stderr.write(`${styled('red', 'error:', process.stderr)} ${text}\n`);
}

function explain(error: unknown): string {
  const { message, driverError } = error as { message?: string; driverError?: { code?: string } };
  // A missing table or column means that migrations are missing.
  if (UNDEFINED.has(driverError?.code))
    return (
      `the database is not at this version (${message}): run "${invocation()} migrate", or, ` +
      `where its tables are in another schema than oauth, set DATABASE_SCHEMA first`
    );
  return message || String(error);
}
