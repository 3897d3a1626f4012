import { CommanderError } from 'commander';
import { AdministrationError, type RefusalKind } from '#platform/validation/administration.error.js';
import { warnOf } from './change.js';
import { FindingsError, IncompleteError, InputError, textOf } from './flags.js';
import { jsonLine, printError, wantsJson } from './output.js';
import { commandToPaste } from './shell.js';

export const EXIT = { done: 0, failed: 1, wrongInput: 2, incomplete: 3, findings: 4 } as const;

export const EXIT_CODES_HELP = `\
Exit codes:
  0  done; also for a command that is safe to repeat and had nothing left to do
  1  failed: a setting is missing, or a service does not answer; the message says what was done and how to continue
  2  wrong input, or not confirmed: nothing was changed
  3  done in part: "user import" reported lines that it did not import
  4  "doctor" found problems
With --json, the error of 1 and 2 is one JSON object in a line of stderr: "error" and "exit_code".`;

/** SQLSTATE undefined_table and undefined_column: a migration is missing, or the tables are in another schema. */
const UNDEFINED: ReadonlySet<unknown> = new Set(['42P01', '42703']);

const FAILURES: ReadonlySet<RefusalKind> = new Set<RefusalKind>(['unsafe', 'incomplete', 'unavailable']);

/**
 * Prints an error without a stack trace, credentials or control characters; with --json, on one line.
 * @returns exit code
 */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    // Without --json, Commander has already printed the message or the help.
    if (wantsJson()) writeErrors([error.message.replace(/^error: /, '')], EXIT.wrongInput);
    return EXIT.wrongInput;
  }
  if (error instanceof IncompleteError) return EXIT.incomplete;
  if (error instanceof FindingsError) return EXIT.findings;
  if (error instanceof InputError) {
    writeErrors(error.problems, EXIT.wrongInput);
    return EXIT.wrongInput;
  }
  if (error instanceof AdministrationError) {
    warnOf(error.warnings);
    const exitCode = FAILURES.has(error.kind) ? EXIT.failed : EXIT.wrongInput;
    const again = error.kind === 'incomplete' ? '; run this command again' : '';
    writeErrors(
      error.problems.map((problem) => textOf(problem) + again),
      exitCode,
    );
    return exitCode;
  }
  writeErrors([explain(error)], EXIT.failed);
  return EXIT.failed;
}

function writeErrors(problems: readonly string[], exitCode: number): void {
  if (wantsJson()) process.stderr.write(jsonLine({ error: problems.join('\n'), exit_code: exitCode }));
  else for (const problem of problems) printError(problem);
}

function explain(error: unknown): string {
  const { message, driverError } = error as { message?: string; driverError?: { code?: string } };
  if (UNDEFINED.has(driverError?.code))
    return (
      `the database is not at this version (${message}). Where its tables are in another schema than oauth, set ` +
      `DATABASE_SCHEMA; otherwise run:${commandToPaste('migrate')}`
    );
  return message || String(error);
}
