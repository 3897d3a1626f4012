import { invocation } from './invocation.js';
import { InputError } from './input.error.js';

const WRONG_INPUT = 2;
const FAILED = 1;

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
  // SQLSTATE undefined_table: the directory's tables are made by migrations only.
  if (driverError?.code === '42P01') return `the database has no tables yet: run "${invocation()} migrate"`;
  return message || String(error);
}
