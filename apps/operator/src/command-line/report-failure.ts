import { invocation } from './invocation.js';
import { InputError } from './input.error.js';

const WRONG_INPUT = 2;
const FAILED = 1;
/** SQLSTATE undefined_table and undefined_column. */
const UNDEFINED: ReadonlySet<unknown> = new Set(['42P01', '42703']);

/**
 * Tells the operator on stderr why a command failed: what to do about it, no stack trace and no credential.
 *
 * @returns the exit code: 0 when help was asked for, 2 for wrong input, 1 for everything else
 */
export function reportFailure(error: unknown): number {
  if (isCommanderExit(error)) {
    // Commander has already written the message, or the help that was asked for.
    return error.exitCode === 0 ? 0 : WRONG_INPUT;
  }
  if (error instanceof InputError) {
    for (const problem of error.problems) process.stderr.write(`error: ${problem}\n`);
    return WRONG_INPUT;
  }
  process.stderr.write(`error: ${explain(error)}\n`);
  return FAILED;
}

function isCommanderExit(error: unknown): error is { code: string; exitCode: number } {
  const { code, exitCode } = (error ?? {}) as { code?: unknown; exitCode?: unknown };
  return typeof code === 'string' && code.startsWith('commander.') && typeof exitCode === 'number';
}

function explain(error: unknown): string {
  const { message, driverError } = error as { message?: string; driverError?: { code?: string } };
  // What migrations alone make: tables and columns.
  if (UNDEFINED.has(driverError?.code))
    return (
      `the database is not at this version (${message}): run "${invocation()} migrate", or, ` +
      `where its tables are in a schema of their own, set DATABASE_SCHEMA first`
    );
  return message || String(error);
}
