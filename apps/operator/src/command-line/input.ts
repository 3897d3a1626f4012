import { ValidateBy, validateSync } from 'class-validator';
import { jsonText } from './output.js';

/** The operator's input is wrong and nothing was written. Exit code 2. */
export class InputError extends Error {
  /** @param problems one line each: what is wrong, and what to do */
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'InputError';
  }
}

/** Some of the input was not processed; the command has reported what and why. Exit code 3. */
export class IncompleteError extends Error {}

/** The command looked for problems, and has reported some. Exit code 4. */
export class FindingsError extends Error {}

/** What the operator wrote, as JSON: control characters of pasted text must not reach the terminal. */
export const quoted = (text: string): string => jsonText(text.slice(0, 200));

/** Makes a field of a DTO valid when `problemsOf` the DTO finds nothing. */
export function Rule(problemsOf: (dto: never) => string[]): PropertyDecorator {
  return ValidateBy({
    name: 'rule',
    validator: {
      validate: (_, argument) => problemsOf(argument?.object as never).length === 0,
      defaultMessage: (argument) => problemsOf(argument?.object as never).join('\n'),
    },
  });
}

/**
 * The options as an instance of their DTO.
 *
 * @param others problems found elsewhere, to be reported together with those of the DTO
 * @throws InputError that lists every problem, in the order of the DTO's fields
 */
export function validated<T extends object>(
  shape: new () => T,
  options: object,
  others: readonly string[] = [],
): T {
  const dto = Object.assign(new shape(), options);
  const problems = validateSync(dto, { stopAtFirstError: true })
    .flatMap(({ constraints = {} }) => Object.values(constraints))
    .flatMap((message) => message.split('\n'))
    .concat(others);
  if (problems.length > 0) throw new InputError(problems);
  return dto;
}
