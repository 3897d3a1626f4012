import type { Problem } from '#platform/validation/problem.js';
import { validate } from '#platform/validation/validate.js';
import { AdministrationError, refuseInvalid } from '#platform/validation/administration.error.js';

/**
 * Input of an operation, in which the compiler finds misspelt fields. Every field is optional, because the operation
 * reports missing fields. The compiler also accepts an `object` of unknown fields, such as a request body.
 */
export type Input<Dto> = {
  readonly [Field in keyof Dto]?: InputValue<Dto[Field]> | undefined;
};

/** Any text is accepted in place of a keyword, because the operation reports unknown keywords. */
type InputValue<Value> = [Value] extends [string[] | undefined]
  ? readonly string[]
  : [Value] extends [string | undefined]
    ? string
    : Value;

/**
 * Treats an undefined value as absent. Returns the broken rules.
 * @throws AdministrationError for unknown fields and wrong types
 */
export function checked<T extends object>(
  shape: new () => T,
  input: Input<NoInfer<T>>,
): { readonly dto: T; readonly problems: readonly Problem[] } {
  const { dto, problems } = validate(shape, input);
  if (dto === null) throw new AdministrationError('invalid', problems);
  return { dto, problems };
}

/** @throws AdministrationError that lists every problem */
export function validated<T extends object>(shape: new () => T, input: Input<NoInfer<T>>): T {
  const { dto, problems } = checked(shape, input);
  refuseInvalid(problems);
  return dto;
}
