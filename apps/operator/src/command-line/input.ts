import { ValidateBy, validateSync } from 'class-validator';

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

/** Parser of an option with few values. */
export function choice<Value>(
  flag: string,
  values: Readonly<Record<string, Value>>,
): (text: string) => Value {
  return (text) => {
    const value = Object.entries(values).find(([name]) => name === text);
    if (value) return value[1];
    throw new InputError([`${flag} must be ${Object.keys(values).join(' or ')}`]);
  };
}

/** Returns null for each value `none`, which removes what is registered. Commander's parsers cannot return null. */
export function withNone(
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string | null | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === 'none' ? null : value]),
  );
}
