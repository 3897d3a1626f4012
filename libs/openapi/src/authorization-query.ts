import { AUTHORIZATION_PARAMETERS, type AuthorizationParameter } from '#oauth/authorization-parameters.js';
import { LIMITS } from '#oauth/parameters.js';
import type { ParameterDescription } from './operation.js';
import type { Schema } from './schema.js';

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
