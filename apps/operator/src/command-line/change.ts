import { hostname, userInfo } from 'node:os';
import type { Actor, Change } from '#operations/audit-trail.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { withAdministration } from '../connections/administration.js';
import type { Administration } from '../connections/open-administration.js';
import { ChangeSettings } from '../settings/settings.js';
import { confirmed } from './prompts.js';
import { flagOf, InputError } from './flags.js';
import { type JsonOption, printResult, warn } from './output.js';

export function actor(): Actor {
  return {
    name: `${process.env.OPERATOR_NAME || systemUser()}@${hostname()}`,
    channel: 'command',
    role: 'admin',
  };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

export async function makeChange<Result>(
  options: JsonOption,
  operation: (administration: Administration, by: Actor) => Promise<Change<Result>>,
  printText: (result: Result) => void,
): Promise<void> {
  const change = await withAdministration(ChangeSettings, (administration) =>
    operation(administration, actor()),
  );
  await printChange(change, (result) => printResult(options, result, () => printText(result)));
}

/** Asks for a confirmation if the operation requires one. @param yes true confirms in advance */
export async function confirmedChange<Result>(
  yes: boolean,
  change: (isConfirmed: boolean) => Promise<Change<Result>>,
): Promise<Change<Result>> {
  try {
    return await change(yes);
  } catch (error) {
    if (!(error instanceof AdministrationError && error.kind === 'unconfirmed')) throw error;
    if (!(await confirmed(false, `${describeProblems(error, flagOf).join('\n')}. Change it?`)))
      throw new InputError(['nothing was changed']);
    return change(true);
  }
}

/** Prints the result, which may contain a new secret, before waiting for the announcement, which may take seconds. */
export async function printChange<Result>(
  { result, announced }: Change<Result>,
  print: (result: Result) => void,
): Promise<void> {
  print(result);
  warnOf(await announced);
}

export function warnOf(warnings: readonly string[]): void {
  for (const warning of warnings) warn(warning);
}
