import { ValidateBy, validateSync } from 'class-validator';
import { jsonText } from './output.js';

/** Wrong input: nothing was written. Exit code 2. */
export class InputError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'InputError';
  }
}

/** Some lines of the input were rejected, and have been reported. Exit code 3. */
export class IncompleteError extends Error {}

/** Problems were found, and have been reported. Exit code 4. */
export class FindingsError extends Error {}

/** Quotes input as JSON: control characters of pasted text must not reach the terminal. */
export const quoted = (text: string): string => jsonText(text.slice(0, 200));

/** Validates a field by the problems of the whole DTO. */
export function Rule(problemsOf: (dto: never) => string[]): PropertyDecorator {
  return ValidateBy({
    name: 'rule',
    validator: {
      validate: (_, argument) => problemsOf(argument?.object as never).length === 0,
      defaultMessage: (argument) => problemsOf(argument?.object as never).join('\n'),
    },
  });
}

/** Creates a valid DTO from the options. @throws InputError that lists every problem, including `others` */
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
