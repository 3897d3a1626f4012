import { withNames } from '#administration/administration.error.js';
import type { Change } from '#administration/operation.js';
import { flagOf } from './flags.js';
import { warn } from './output.js';

/** Prints the result of a change before it is announced: a new secret is stored nowhere, and must not be lost meanwhile. */
export async function printChange<Result>(
  { result, announced }: Change<Result>,
  print: (result: Result) => void,
): Promise<void> {
  print(result);
  warnOf(await announced);
}

/** Prints the warnings of an operation, with the options of the command. */
export function warnOf(warnings: readonly string[]): void {
  for (const warning of warnings) warn(withNames(warning, flagOf));
}
