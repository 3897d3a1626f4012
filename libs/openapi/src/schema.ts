import type { Type } from '@nestjs/common';

/** A JSON Schema of draft 2020-12, as far as this service needs it. */
export interface Schema {
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

/** A schema, or a class whose fields carry `@ApiProperty`. */
export type SchemaSource = Schema | Type;

/** A field of an answer. Its type is that of the class, unless the schema names another. */
export interface PropertySchema extends Schema {
  readonly description: string;
  /** Whether some answers lack the field. */
  readonly optional?: boolean;
}

export interface Property {
  readonly name: string;
  readonly schema: PropertySchema;
}

const PROPERTIES = 'openapi:properties';

/** Describes a field of an answer's class. The description of the API is generated from it. */
export function ApiProperty(schema: PropertySchema): PropertyDecorator {
  return (prototype, name) => {
    const before = (Reflect.getMetadata(PROPERTIES, prototype.constructor) ?? []) as readonly Property[];
    const property: Property = { name: String(name), schema };
    Reflect.defineMetadata(PROPERTIES, [...before, property], prototype.constructor);
  };
}

/** The fields of a class in the order of their declaration; none if it has no `@ApiProperty`. */
export function propertiesOf(type: Type): readonly Property[] {
  return (Reflect.getMetadata(PROPERTIES, type) ?? []) as readonly Property[];
}
