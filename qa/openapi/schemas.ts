import type { Type } from '@nestjs/common';
import { type DeclaredParameter, parametersOf } from '#oauth/parameters.js';
import { propertiesOf, type Schema, type SchemaSource } from '#openapi/schema.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Collects named schemas. A class gets one when a schema first refers to it. */
export class Schemas {
  private readonly named = new Map<string, JsonSchema>();

  get components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  resolve(source: SchemaSource): JsonSchema {
    if (typeof source === 'function') return this.reference(source);
    const { component, ...own } = source;
    if (component !== undefined) return this.component(component, () => this.resolve(own));
    const { items, properties, allOf, oneOf, anyOf, ...rest } = own;
    const all = (sources: readonly SchemaSource[]) => sources.map((source) => this.resolve(source));
    return {
      ...rest,
      ...(items && { items: this.resolve(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, this.resolve(property)]),
        ),
      }),
      ...(allOf && { allOf: all(allOf) }),
      ...(oneOf && { oneOf: all(oneOf) }),
      ...(anyOf && { anyOf: all(anyOf) }),
    };
  }

  private reference(type: Type): JsonSchema {
    return this.component(type.name, () => this.ofClass(type));
  }

  private component(name: string, schema: () => JsonSchema): JsonSchema {
    if (!this.named.has(name)) {
      this.named.set(name, {});
      this.named.set(name, schema());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private ofClass(type: Type): JsonSchema {
    const properties = propertiesOf(type);
    if (properties.length === 0) return this.resolve(bodyOf(type));
    const required = properties.filter(({ schema }) => !schema.optional).map(({ name }) => name);
    return {
      type: 'object',
      required,
      properties: Object.fromEntries(
        properties.map(({ name, schema: { optional: _optional, ...schema } }) => [
          name,
          this.resolve({ ...typeOf(type, name, schema), ...schema }),
        ]),
      ),
    };
  }
}

/** Returns the type from TypeScript's metadata if the schema does not specify a type. */
function typeOf(type: Type, name: string, { type: given, oneOf, anyOf, allOf }: Schema): Schema {
  if (given ?? oneOf ?? anyOf ?? allOf) return {};
  const types = { String: 'string', Number: 'number', Boolean: 'boolean' } as const;
  const design = Reflect.getMetadata('design:type', type.prototype as object, name) as Type | undefined;
  const found = types[design?.name as keyof typeof types];
  if (!found) throw new TypeError(`${type.name}.${name}: @ApiProperty needs a type`);
  return { type: found };
}

function bodyOf(dto: Type): Schema {
  const parameters = parametersOf(dto);
  if (parameters.length === 0) throw new TypeError(`${dto.name} has neither @ApiProperty nor @Parameter`);
  const always = parameters.filter(({ when }) => !when);
  const required = always.filter(({ required: needed = true }) => needed).map(({ name }) => name);
  const cases = casesOf(parameters);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, valueOf(parameter)])),
    ...(cases.length > 0 && { oneOf: cases }),
  };
}

/** Returns one schema for each value of a parameter that makes other parameters required. */
function casesOf(parameters: readonly DeclaredParameter[]): Schema[] {
  const keysOf = ({ when: [name, ...values] = [''] }: DeclaredParameter): string[] =>
    values.map((value) => `${name}=${value}`);
  return [...new Set(parameters.flatMap(keysOf))].map((key) => {
    const [parameter = '', value = ''] = key.split('=');
    const required = parameters
      .filter((declared) => (declared.required ?? true) && keysOf(declared).includes(key))
      .map(({ name }) => name);
    // Without `required`, a request without the parameter would match several cases.
    return { required: [parameter, ...required], properties: { [parameter]: { const: value } } };
  });
}

function valueOf({ max, values, repeatable, description }: DeclaredParameter): Schema {
  const value: Schema = {
    type: 'string',
    ...(max !== undefined && { maxLength: max }),
    ...(values && { enum: values }),
  };
  return repeatable
    ? { description, anyOf: [value, { type: 'array', items: value }] }
    : { ...value, description };
}

type Kind = 'headers' | 'parameters' | 'examples';

type Parts = Readonly<Record<string, unknown>>;

type Transform = (kind: Kind, name: string, part: unknown) => unknown;

/**
 * Moves repeated headers, parameters and examples into `components`. If parts share a name, moves the
 * most frequent one.
 */
export function shareRepeated<Node>(node: Node): { node: Node; components: Partial<Record<Kind, Parts>> } {
  const counts = new Map<string, number>();
  transformParts(node, (...part) => {
    const key = JSON.stringify(part);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  const shared = new Map<string, string>();
  for (const [key, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    const [kind, name] = JSON.parse(key) as [Kind, string];
    const reference = `#/components/${kind}/${name}`;
    if (count > 1 && ![...shared.values()].includes(reference)) shared.set(key, reference);
  }
  const components: Partial<Record<Kind, Record<string, unknown>>> = {};
  const transformed = transformParts(node, (kind, name, part) => {
    const reference = shared.get(JSON.stringify([kind, name, part]));
    if (reference === undefined) return part;
    (components[kind] ??= {})[name] = part;
    return { $ref: reference };
  });
  return { node: transformed as Node, components };
}

function transformParts(node: unknown, transform: Transform): unknown {
  if (Array.isArray(node)) return node.map((item) => transformParts(item, transform));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]: [string, unknown]) => {
      if (key === 'schema') return [key, value];
      if (key === 'parameters')
        return [key, (value as { name: string }[]).map((part) => transform(key, part.name, part))];
      if (key === 'headers' || key === 'examples') {
        const parts = Object.entries(value as Parts);
        return [key, Object.fromEntries(parts.map(([name, part]) => [name, transform(key, name, part)]))];
      }
      return [key, transformParts(value, transform)];
    }),
  );
}
