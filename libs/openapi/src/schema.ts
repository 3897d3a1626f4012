import type { Type } from '@nestjs/common';

/** Subset of JSON Schema draft 2020-12. */
export interface Schema {
  /** Name under `components/schemas`, for a schema that several other schemas use. */
  readonly component?: string;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly description?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: SchemaSource;
  readonly properties?: Readonly<Record<string, SchemaSource>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly allOf?: readonly SchemaSource[];
  readonly oneOf?: readonly SchemaSource[];
  readonly anyOf?: readonly SchemaSource[];
  readonly examples?: readonly unknown[];
}

type SchemaType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** A schema, or a class with `@ApiProperty` fields. */
export type SchemaSource = Schema | Type;

/** Schema of a response field; `type` defaults to the type in the class. */
export interface PropertySchema extends Schema {
  readonly description: string;
  /** True if some responses lack the field. */
  readonly optional?: boolean;
}

export interface Property {
  readonly name: string;
  readonly schema: PropertySchema;
}

const PROPERTIES = 'openapi:properties';

export function ApiProperty(schema: PropertySchema): PropertyDecorator {
  return (prototype, name) => {
    const before = (Reflect.getMetadata(PROPERTIES, prototype.constructor) ?? []) as readonly Property[];
    const property: Property = { name: String(name), schema };
    Reflect.defineMetadata(PROPERTIES, [...before, property], prototype.constructor);
  };
}

export function propertiesOf(type: Type): readonly Property[] {
  return (Reflect.getMetadata(PROPERTIES, type) ?? []) as readonly Property[];
}
