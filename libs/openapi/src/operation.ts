import { SetMetadata } from '@nestjs/common';
import { AUTHORIZATION_PARAMETERS, type AuthorizationParameter } from '#oauth/authorization-parameters.js';
import { LIMITS } from '#oauth/parameters.js';
import type { Schema, SchemaSource } from './schema.js';

type ApiTag =
  'Authorization' | 'Tokens' | 'Events' | 'Metadata' | 'API' | 'Administration' | 'Pages' | 'Internal port';

/** A parameter in the query, the path, a header or a cookie. The DTO declares the parameters in the body. */
export interface ParameterDescription {
  readonly in: 'query' | 'header' | 'path' | 'cookie';
  readonly description: string;
  readonly required?: boolean;
  readonly schema?: SchemaSource;
}

export interface HeaderDescription {
  readonly description: string;
  /** True if every response of this status has the header. */
  readonly required?: boolean;
  readonly schema?: SchemaSource;
}

export interface ResponseDescription {
  /** Name of a response that several endpoints share. */
  readonly name?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  /** Keyed by media type. Absent without a body, and for a body that clients can ignore. */
  readonly content?: Readonly<Record<string, ContentDescription>>;
}

export interface ContentDescription {
  readonly schema: SchemaSource;
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** Required scopes by scheme; `{}` for no authentication. */
type SecurityRequirement = Readonly<
  Partial<Record<'basic' | 'refreshToken' | 'accessToken' | 'dpop' | 'session', readonly string[]>>
>;

/** Path, method, body and fixed headers of the endpoint come from Nest's decorators and the DTO. */
export interface OperationDescription {
  /** Unique name, which generated clients use for their functions. */
  readonly id: string;
  readonly tag: ApiTag;
  readonly summary: string;
  readonly description?: string;
  /** Alternatives, each of which is sufficient; absent if no authentication is required. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: Readonly<Record<string, ParameterDescription>>;
  readonly form?: SchemaSource;
  /** Optional body in other media types, for a handler without a DTO. */
  readonly body?: { readonly types: readonly string[]; readonly schema: SchemaSource };
  readonly responses: Readonly<Record<number, ResponseDescription>>;
}

const OPERATION = 'openapi:operation';

/** Describes the endpoint of a handler, for the OpenAPI document. */
export const ApiOperation = (operation: OperationDescription): MethodDecorator =>
  SetMetadata(OPERATION, operation);

export function operationOf(handler: object): OperationDescription | undefined {
  return Reflect.getMetadata(OPERATION, handler) as OperationDescription | undefined;
}

export const fixedHeader = (value: string): HeaderDescription => ({
  description: `Always \`${value}\`.`,
  required: true,
  schema: { type: 'string', enum: [value] },
});

export const json = (
  schema: SchemaSource,
  examples?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, ContentDescription>> => ({
  'application/json': { schema, ...(examples && { examples }) },
});

const entries = Object.entries(AUTHORIZATION_PARAMETERS) as [
  keyof typeof AUTHORIZATION_PARAMETERS,
  AuthorizationParameter,
][];

const schemas = new Map(
  entries.map(([name, { values, repeatable }]): [string, Schema] => {
    const value: Schema = { type: 'string', maxLength: LIMITS[name], ...(values && { enum: values }) };
    return [name, repeatable ? { anyOf: [value, { type: 'array', items: value }] } : value];
  }),
);

export const AUTHORIZATION_QUERY: Readonly<Record<string, ParameterDescription>> = Object.fromEntries(
  entries.map(([name, { description, required }]) => [
    name,
    { in: 'query', description, ...(required && { required }), schema: schemas.get(name) ?? {} },
  ]),
);

/** Body of a pushed authorization request (RFC 9126 2.1). */
export const PUSHED_PARAMETERS: Schema = {
  component: 'PushedAuthorizationRequest',
  type: 'object',
  required: ['redirect_uri'],
  properties: Object.fromEntries(
    entries
      .filter(([name]) => name !== 'request_uri' && name !== 'client_id')
      .map(([name, { description }]) => [name, { ...schemas.get(name), description }]),
  ),
};
