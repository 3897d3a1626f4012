import { ValidateBy } from 'class-validator';
import { listOf } from './variables.js';

type Variables = Readonly<Record<string, string | number | undefined>>;

/**
 * Requires a relation between a variable and the others of the configuration.
 * @param text follows the name of the variable
 */
function Relation(
  name: string,
  text: string,
  holds: (value: unknown, variables: Variables) => boolean,
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value, argument) => holds(value, (argument?.object ?? {}) as Variables),
      defaultMessage: (argument) => `${argument?.property} ${text}`,
    },
  });
}

const isSet = (value: unknown): boolean => value !== undefined && value !== '';

/** Requires exactly one of the other variables to be set if this variable is set. */
export function WithOneOf(...others: readonly string[]): PropertyDecorator {
  const isOne = (variables: Variables) => others.filter((other) => isSet(variables[other])).length === 1;
  const text = `needs exactly one of ${others.join(', ')}`;
  return Relation('withOneOf', text, (value, variables) => value === '' || isOne(variables));
}

export function OnlyWith(other: string): PropertyDecorator {
  const text = `may be set only together with ${other}`;
  return Relation('onlyWith', text, (value, variables) => value === '' || isSet(variables[other]));
}

export function NotWith(other: string): PropertyDecorator {
  const text = `and ${other} are mutually exclusive: set only one of them`;
  return Relation('notWith', text, (value, variables) => value === '' || !isSet(variables[other]));
}

export function TogetherWith(other: string): PropertyDecorator {
  const text = `must be set together with ${other}`;
  return Relation('togetherWith', text, (value, variables) => (value !== '') === isSet(variables[other]));
}

/** Requires the value of this variable to differ from the values of the other variables, which may be lists. */
export function NotAmong(...others: readonly string[]): PropertyDecorator {
  const valuesOf = (variables: Variables): unknown[] =>
    others.flatMap((other) => listOf(String(variables[other] ?? '')));
  const text = `must be another origin than ${others.join(', ')}`;
  return Relation(
    'notAmong',
    text,
    (value, variables) => value === '' || !valuesOf(variables).includes(value),
  );
}

export function UnlessEqual(first: string, second: string): PropertyDecorator {
  const text = `must be set unless ${first} is ${second}`;
  return Relation(
    'unlessEqual',
    text,
    (value, variables) => value !== '' || variables[first] === variables[second],
  );
}
