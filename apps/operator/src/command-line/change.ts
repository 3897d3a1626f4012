import { withNames } from '#administration/administration.error.js';
import type { Change } from '#administration/operation.js';
import { flagOf } from './flags.js';
import { warn } from './output.js';

/** Prints the result before the announcement, which may fail or take seconds: a new secret is stored nowhere else. */
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
