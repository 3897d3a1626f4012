import { SetMetadata } from '@nestjs/common';
import type { SchemaSource } from './schema.js';

/** What an endpoint is for. The description of the API groups endpoints by it. */
type ApiTag = 'Authorization' | 'Tokens' | 'Metadata' | 'API' | 'Pages' | 'Internal port';

/** A parameter in the query, the path, a header or a cookie. Those of a body are in the DTO of the handler. */
export interface ParameterDescription {
  readonly in: 'query' | 'header' | 'path' | 'cookie';
  readonly description: string;
  readonly required?: boolean;
  readonly schema?: SchemaSource;
}

export interface HeaderDescription {
  readonly description: string;
  /** Whether every answer of this status has it. */
  readonly required?: boolean;
  readonly schema?: SchemaSource;
}

/** An answer; without a schema it has no body that a client reads. */
export interface ResponseDescription {
  /** For an answer that several endpoints share: it is described once, under this name. */
  readonly name?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  /** By media type. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
}

export interface ContentDescription {
  readonly schema: SchemaSource;
  /** By name. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** Names of schemes, each with the scopes that it needs; `{}` when a request needs none of them. */
type SecurityRequirement = Readonly<
  Partial<Record<'basic' | 'refreshToken' | 'accessToken' | 'dpop' | 'session', readonly string[]>>
>;

/** An endpoint. Path, method, body and fixed headers come from Nest's decorators and the DTO. */
export interface OperationDescription {
  /** Unique; generated clients name their functions after it. */
  readonly id: string;
  readonly tag: ApiTag;
  readonly summary: string;
  readonly description?: string;
  /** The ways to authenticate, each by itself sufficient. None when absent. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: Readonly<Record<string, ParameterDescription>>;
  /** Fields of a form, where the handler has no DTO. */
  readonly form?: SchemaSource;
  /** By status. */
  readonly responses: Readonly<Record<number, ResponseDescription>>;
}

const OPERATION = 'openapi:operation';

/** Describes the endpoint of a handler. The description of the API is generated from it. */
export const ApiOperation = (operation: OperationDescription): MethodDecorator =>
  SetMetadata(OPERATION, operation);

/** The description of a handler; undefined if it has none. */
export function operationOf(handler: object): OperationDescription | undefined {
  return Reflect.getMetadata(OPERATION, handler) as OperationDescription | undefined;
}

/** A header that has the same value in every answer. */
export const fixedHeader = (value: string): HeaderDescription => ({
  description: `Always \`${value}\`.`,
  required: true,
  schema: { type: 'string', enum: [value] },
});

/** A JSON answer. */
export const json = (
  schema: SchemaSource,
  examples?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, ContentDescription>> => ({
  'application/json': { schema, ...(examples && { examples }) },
});
