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
