import { CommanderError } from 'commander';
import { IncompleteError, InputError } from './input.js';
import { invocation } from './operator-command.js';

const WRONG_INPUT = 2;
const FAILED = 1;
const INCOMPLETE = 3;
/** SQLSTATE undefined_table and undefined_column. */
const UNDEFINED: ReadonlySet<unknown> = new Set(['42P01', '42703']);

/**
 * Writes to stderr why a command failed and what to do about it, without stack traces and credentials.
 *
 * @returns the exit code: 0 if help was requested, 2 for wrong input, 3 for input that was processed in part, 1 for everything else
 */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written the message or the requested help.
    return error.exitCode === 0 ? 0 : WRONG_INPUT;
  }
  if (error instanceof IncompleteError) return INCOMPLETE;
  if (error instanceof InputError) {
    for (const problem of error.problems) process.stderr.write(`error: ${problem}\n`);
    return WRONG_INPUT;
  }
  process.stderr.write(`error: ${explain(error)}\n`);
  return FAILED;
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
