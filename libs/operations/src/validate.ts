import { ValidateBy, validateSync } from 'class-validator';
import { type Problem, refuseInvalid } from './administration.error.js';

/** Types are checked first, so that rules can rely on the types. */
const TYPE = 'type';
const RULE = 'rule';

function Type(name: string, isOf: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy(
    { name: 'type', validator: { validate: (value) => value === undefined || isOf(value) } },
    { groups: [TYPE], message: ({ property }) => `‹${property}› must be ${name}` },
  );
}

/** PostgreSQL cannot store NUL. */
const isText = (value: unknown): boolean => typeof value === 'string' && !value.includes('\0');

export const Text = () => Type('text without NUL characters', isText);
export const TextOrNull = () =>
  Type('text without NUL characters', (value) => value === null || isText(value));
export const Texts = () =>
  Type('a list of texts without NUL characters', (value) => Array.isArray(value) && value.every(isText));
export const Flag = () => Type('true or false', (value) => typeof value === 'boolean');
export const FileOrNull = () =>
  Type('the content of a file', (value) => value === null || value instanceof Uint8Array);
export const Json = () =>
  Type('JSON', (value) => isText(value) || (typeof value === 'object' && value !== null));
export const JsonOrNull = () =>
  Type('JSON', (value) => value === null || isText(value) || typeof value === 'object');

export function WholeNumber(
  min: number,
  max: number,
  what = `a whole number from ${min} to ${max}`,
): PropertyDecorator {
  const isWithin = (value: number) => Number.isInteger(value) && value >= min && value <= max;
  const problems = (field: string, value: number | undefined) =>
    value === undefined || isWithin(value) ? [] : [`‹${field}› must be ${what}`];
  return (target, field) => {
    const valueOf = (dto: Readonly<Record<string, number | undefined>>) => dto[String(field)];
    Type('a number', (value) => typeof value === 'number')(target, field);
    Rule('number_invalid', (dto) => problems(String(field), valueOf(dto)))(target, field);
  };
}

/**
 * Checks a rule that may read all fields of a DTO.
 * @param id id of the problems, whose field is the decorated field
 */
export function Rule(id: string, messagesOf: (dto: never) => readonly string[]): PropertyDecorator {
  return ValidateBy(
    {
      name: id,
      validator: {
        validate: (_, argument) => messagesOf(argument?.object as never).length === 0,
        defaultMessage: (argument) => messagesOf(argument?.object as never).join('\n'),
      },
    },
    { groups: [RULE] },
  );
}

/** Checks a rule about a whole DTO. @param id id of the problems, which name no field */
export function DtoRule(id: string, messagesOf: (dto: never) => readonly string[]): ClassDecorator {
  return ({ prototype }) => Rule(id, messagesOf)(prototype as object, '');
}

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
  const values = Object.entries(input).filter(([, value]) => value !== undefined);
  const dto = Object.assign(new shape(), Object.fromEntries(values));
  const wrongTypes = problemsOf(dto, TYPE);
  refuseInvalid(wrongTypes);
  return { dto, problems: problemsOf(dto, RULE) };
}

/** @throws AdministrationError that lists every problem */
export function validated<T extends object>(shape: new () => T, input: Input<NoInfer<T>>): T {
  const { dto, problems } = checked(shape, input);
  refuseInvalid(problems);
  return dto;
}

function problemsOf(dto: object, group: string): Problem[] {
  const isType = group === TYPE;
  const unknown = { whitelist: isType, forbidNonWhitelisted: isType, forbidUnknownValues: false };
  const options = { ...unknown, groups: [group] };
  return validateSync(dto, { ...options, stopAtFirstError: true }).flatMap(
    ({ property: field, constraints = {} }) =>
      Object.entries(constraints).flatMap(([id, messages]): Problem[] =>
        id === 'whitelistValidation'
          ? [{ id: 'unknown_field', field, message: `‹${field}› is not a field of this operation` }]
          : messages.split('\n').map((message) => ({ id, ...(field !== '' && { field }), message })),
      ),
  );
}
