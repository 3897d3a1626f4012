import { applyDecorators } from '@nestjs/common';
import { getMetadataStorage, IsInt, Max, Min, ValidateBy, ValidateIf, validateSync } from 'class-validator';
import { at, type Path, type Problem, problem, type Problems, type reports } from './problem.js';

/** Group of the rules, which run only if all types are correct, so that a rule can rely on the types of all fields. */
const RULE = 'rule';

/** The field may be absent, but not null. class-validator's `IsOptional` accepts null too. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

export const WholeNumber = (min: number, max: number): PropertyDecorator =>
  applyDecorators(IsInt(), Min(min), Max(max));

const isJson = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

/** Accepts JSON, as text or as a parsed object. */
export const IsJson = (): PropertyDecorator =>
  ValidateBy({ name: 'isJson', validator: { validate: isJson } });

/** Accepts the values that `isValid` accepts. */
export function Satisfies(
  isValid: (value: string) => boolean,
  options: ReturnType<typeof reports>,
): PropertyDecorator {
  return ValidateBy(
    {
      name: isValid.name,
      validator: { validate: (value: string) => isValid(value), defaultMessage: () => 'invalid' },
    },
    options,
  );
}

/**
 * Checks a rule that may read all fields.
 * @param find returns the problems, whose paths begin at the object
 */
export function Rule(find: (dto: never) => readonly Problem[]): PropertyDecorator {
  return ValidateBy(
    {
      name: RULE,
      constraints: [find],
      validator: { validate: (_, given) => find(given?.object as never).length === 0 },
    },
    { groups: [RULE] },
  );
}

/** Checks a rule about the whole object. */
export function ObjectRule(find: (dto: never) => readonly Problem[]): ClassDecorator {
  return ({ prototype }) => Rule(find)(prototype as object, '');
}

/**
 * Reads an object of unknown content as `shape`. An undefined value counts as absent.
 * @param path of the object, at which the paths of the problems begin
 * @returns every problem; `dto` is null if a type is wrong or a field is unknown, because no rule has run then
 */
export function validate<Shape extends object>(
  shape: new () => Shape,
  input: object,
  path: Path = [],
): { readonly dto: Shape | null; readonly problems: readonly Problem[] } {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  // Assigning these would replace the class, by which class-validator finds the rules.
  const unknown = given
    .filter(([name]) => name === '__proto__' || name === 'constructor')
    .map(([name]) => problem('unknown_field', name));
  if (unknown.length > 0) return { dto: null, problems: at(path, unknown) };
  const dto = Object.assign(new shape(), Object.fromEntries(given));
  const withNul = nulProblems(dto);
  const fields = new Set(withNul.map(({ path: [field] }) => field));
  const problems = [
    ...typeProblems(shape, dto).filter(({ path: [field] }) => !fields.has(field)),
    ...withNul,
  ];
  if (problems.some(({ id }) => id === 'type' || id === 'unknown_field'))
    return { dto: null, problems: at(path, problems) };
  const rules = metadataOf(shape, [RULE]).map(
    ({ constraints: [find] }) => find as (dto: Shape) => readonly Problem[],
  );
  return { dto, problems: at(path, [...problems, ...rules.flatMap((find) => find(dto))]) };
}

export function fieldsOf(shape: new () => object): string[] {
  return [...new Set(metadataOf(shape).map(({ propertyName }) => propertyName))];
}

function metadataOf(shape: new () => object, groups?: string[]) {
  return getMetadataStorage().getTargetValidationMetadatas(shape, '', false, groups === undefined, groups);
}

function typeProblems(shape: new () => object, dto: object): Problem[] {
  const unknownFields = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };
  return validateSync(dto, { ...unknownFields, strictGroups: true, stopAtFirstError: true }).map(
    ({ property, value, constraints = {}, contexts = {} }): Problem => {
      if ('whitelistValidation' in constraints) return problem('unknown_field', property);
      const rules = metadataOf(shape).filter(({ propertyName }) => propertyName === property);
      const [named] =
        value === undefined ? rules.flatMap(({ context }) => context ?? []) : Object.values(contexts);
      return named
        ? { ...(named as Pick<Problem, 'id' | 'values'>), path: [property] }
        : typeProblem(property, value, rules);
    },
  );
}

const EXPECTED: Readonly<Record<string, Problems['type']['expected']>> = {
  isArray: 'texts',
  isBoolean: 'flag',
  isString: 'text',
  isInstance: 'file',
  isObject: 'object',
  isJson: 'json',
};

function typeProblem(field: string, value: unknown, rules: ReturnType<typeof metadataOf>): Problem {
  const constraints = new Map(rules.map(({ name = '', constraints: given }) => [name, given as unknown[]]));
  if (constraints.has('isIn') && typeof value === 'string')
    return problem('word_unknown', field, { words: constraints.get('isIn')?.[0] as string[], given: value });
  if (constraints.has('isInt')) {
    if (typeof value !== 'number') return problem('type', field, { expected: 'number' });
    const [min, max] = ['min', 'max'].map((name) => constraints.get(name)?.[0] as number);
    return problem('number_invalid', field, { min: min as number, max: max as number });
  }
  const expected = Object.keys(EXPECTED).find((name) => constraints.has(name));
  if (expected === undefined) throw new Error(`no problem for ${[...constraints.keys()].join(', ')}`);
  return problem('type', field, { expected: EXPECTED[expected] as Problems['type']['expected'] });
}

/** PostgreSQL cannot store NUL. */
function nulProblems(dto: object): Problem[] {
  const hasNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0');
  return Object.entries(dto)
    .filter(([, value]) => (Array.isArray(value) ? value.some(hasNul) : hasNul(value)))
    .map(([name, value]) => problem('type', name, { expected: Array.isArray(value) ? 'texts' : 'text' }));
}
