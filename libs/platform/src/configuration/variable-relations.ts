import { ValidateBy } from 'class-validator';
import { listOf } from './variables.js';

const isSet = (configuration: object | undefined, variable: string): boolean => {
  const value = (configuration as Readonly<Record<string, unknown>> | undefined)?.[variable];
  return value !== undefined && value !== '';
};

/** Requires exactly one of the other variables to be set if this variable is set. */
export function WithOneOf(...others: readonly string[]): PropertyDecorator {
  return ValidateBy({
    name: 'withOneOf',
    validator: {
      validate: (value, argument) =>
        value === '' || others.filter((other) => isSet(argument?.object, other)).length === 1,
      defaultMessage: (argument) => `${argument?.property} needs exactly one of ${others.join(', ')}`,
    },
  });
}

export function OnlyWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'onlyWith',
    validator: {
      validate: (value, argument) => value === '' || isSet(argument?.object, other),
      defaultMessage: (argument) => `${argument?.property} may be set only together with ${other}`,
    },
  });
}

export function NotWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'notWith',
    validator: {
      validate: (value, argument) => value === '' || !isSet(argument?.object, other),
      defaultMessage: (argument) =>
        `${argument?.property} and ${other} are mutually exclusive: set only one of them`,
    },
  });
}

export function TogetherWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'togetherWith',
    validator: {
      validate: (value, argument) => (value !== '') === isSet(argument?.object, other),
      defaultMessage: (argument) => `${argument?.property} must be set together with ${other}`,
    },
  });
}

/** Requires the value of this variable to differ from the values of the other variables, which may be lists. */
export function NotAmong(...others: readonly string[]): PropertyDecorator {
  const valuesOf = (configuration: object | undefined): unknown[] =>
    others.flatMap((other) =>
      listOf((configuration as Readonly<Record<string, string | undefined>>)[other] ?? ''),
    );
  return ValidateBy({
    name: 'notAmong',
    validator: {
      validate: (value, argument) => value === '' || !valuesOf(argument?.object).includes(value),
      defaultMessage: (argument) => `${argument?.property} must be another origin than ${others.join(', ')}`,
    },
  });
}

export function UnlessEqual(first: string, second: string): PropertyDecorator {
  const isEqual = (values: Readonly<Record<string, unknown>>) => values[first] === values[second];
  return ValidateBy({
    name: 'unlessEqual',
    validator: {
      validate: (value, argument) =>
        value !== '' || isEqual(argument?.object as Readonly<Record<string, unknown>>),
      defaultMessage: (argument) => `${argument?.property} must be set unless ${first} is ${second}`,
    },
  });
}
