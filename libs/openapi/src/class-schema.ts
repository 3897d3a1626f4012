import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type { Schema } from './schema.js';

type Rules = ReadonlyMap<string, { readonly constraints: readonly unknown[] }>;
type Condition = (object: object, value: unknown) => boolean;

/**
 * Returns the schema of an object that is validated by a class with class-validator's decorators.
 * @param component name in the document, and in generated clients
 * @param nameOf returns the member of a field; null for a field that callers may not send
 */
export function classSchema(
  component: string,
  shape: new () => object,
  nameOf: (field: string) => string | null,
): Schema & { readonly properties: Readonly<Record<string, Schema>> } {
  const defaults = new shape() as Readonly<Record<string, unknown>>;
  const all = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, true, undefined);
  const fields = [...new Set(all.map(({ propertyName }) => propertyName))];
  const members = fields.flatMap((field) => {
    const name = nameOf(field);
    if (name === null) return [];
    const found = all.filter(({ propertyName }) => propertyName === field);
    const conditions = found
      .filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION)
      .map(({ constraints: [condition] }) => condition as Condition);
    const skips = (value: unknown) => conditions.some((isChecked) => !isChecked({ [field]: value }, value));
    const rules: Rules = new Map(found.map((rule) => [rule.name ?? '', rule]));
    const required = defaults[field] === undefined && !skips(undefined);
    return [{ name, required, schema: skips(null) ? orNull(valueOf(rules)) : valueOf(rules) }];
  });
  return {
    component,
    type: 'object',
    required: members.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
  };
}

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

function valueOf(rules: Rules): Schema {
  if (rules.has('isArray')) return { type: 'array', items: textOf(rules) };
  if (rules.has('isBoolean')) return { type: 'boolean' };
  if (rules.has('isJson')) return { type: 'object', additionalProperties: true };
  if (rules.has('isInt'))
    return { type: 'integer', minimum: numberOf(rules, 'min'), maximum: numberOf(rules, 'max') };
  if (rules.has('isString') || rules.has('isIn')) return textOf(rules);
  throw new TypeError(`no schema for ${[...rules.keys()].join(', ')}`);
}

function textOf(rules: Rules): Schema {
  const values = rules.get('isIn')?.constraints[0] as readonly string[] | undefined;
  const pattern = rules.get('matches')?.constraints[0] as RegExp | undefined;
  return {
    type: 'string',
    ...(values && { enum: values }),
    ...(pattern && isPortable(pattern) && { pattern: pattern.source }),
  };
}

/** JSON Schema has no flags, and the generated clients of some languages fail on lookaround and Unicode properties. */
const isPortable = ({ source, flags }: RegExp): boolean => /^u?$/.test(flags) && !/\(\?|\\p/i.test(source);

const numberOf = (rules: Rules, name: string): number => rules.get(name)?.constraints[0] as number;
