import { ValidateBy } from 'class-validator';

const isSet = (configuration: object | undefined, variable: string): boolean => {
  const value = (configuration as Readonly<Record<string, unknown>> | undefined)?.[variable];
  return value !== undefined && value !== '';
};

/** If it is set, exactly one of the others must be set too. */
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

/** It may be set only if the other one is. */
export function OnlyWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'onlyWith',
    validator: {
      validate: (value, argument) => value === '' || isSet(argument?.object, other),
      defaultMessage: (argument) => `${argument?.property} may be set only together with ${other}`,
    },
  });
}

/** It may be set only if the other one is not. */
export function NotWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'notWith',
    validator: {
      validate: (value, argument) => value === '' || !isSet(argument?.object, other),
      defaultMessage: (argument) => `${argument?.property} and ${other} exclude each other: set one of them`,
    },
  });
}

/** Set if another variable is set, and only then. */
export function TogetherWith(other: string): PropertyDecorator {
  return ValidateBy({
    name: 'togetherWith',
    validator: {
      validate: (value, argument) => (value !== '') === isSet(argument?.object, other),
      defaultMessage: (argument) => `${argument?.property} must be set together with ${other}`,
    },
  });
}
