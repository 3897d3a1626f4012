import {
  applyDecorators,
  Controller,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { RequireClientToken, RequireScope } from '#introspection/index.js';
import { ApiOperation, type HeaderDescription, json, type ParameterDescription } from '#openapi/operation.js';

import { Public } from '../session/operator.guard.js';
import { ResponseInterceptor } from './response.interceptor.js';
import { ApiGuard } from './api.guard.js';
import { API, type OperationRules, RULES } from './operation-rules.js';
import { problemResponses, RATE_LIMIT_HEADERS } from './problem.openapi.js';
import { listOf } from './schemas.js';

const MEDIA_TYPES = { body: 'application/json', change: 'application/merge-patch+json' } as const;

export function ApiController(noun: string): ClassDecorator {
  return applyDecorators(
    Controller(`${API}/${noun}`),
    Public(),
    RequireClientToken(),
    UseGuards(ApiGuard),
    UseInterceptors(ResponseInterceptor),
  );
}

const ROUTES = { get: Get, post: Post, patch: Patch, delete: Delete } as const;

/** Uses the name of the handler as the operationId. */
export function Operation(
  method: keyof typeof ROUTES,
  path: string,
  options: OperationRules,
): MethodDecorator {
  const rules = { needsVersion: method === 'patch' || method === 'delete', ...options };
  const scope = method === 'get' ? 'admin:read' : 'admin:write';
  const status = rules.creates ? 201 : rules.returns ? 200 : 204;
  const parameters = [...path.matchAll(/:(\w+)/g)].map(
    ([, name = '']) => [name, pathParameter(name)] as const,
  );
  const apiOperation = (id: string) =>
    ApiOperation({
      id,
      tag: 'Administration',
      summary: rules.summary,
      ...(rules.description !== undefined && { description: rules.description }),
      security: [{ accessToken: [scope] }, { dpop: [scope] }],
      parameters: { ...Object.fromEntries(parameters), ...queryOf(rules), ...conditionsOf(method, rules) },
      ...(rules.input && {
        body: {
          types: method === 'patch' ? Object.values(MEDIA_TYPES) : [MEDIA_TYPES.body],
          schema: rules.input,
        },
      }),
      responses: {
        [status]: {
          description: status === 204 ? 'Done.' : status === 201 ? 'Created.' : 'The result.',
          headers: { ...RATE_LIMIT_HEADERS, ...headersOf(rules) },
          ...(rules.returns && { content: json(rules.isPage ? listOf(rules.returns) : rules.returns) }),
        },
        ...problemResponses(method, rules),
      },
    });
  const decorators = [ROUTES[method](path), HttpCode(status), RequireScope(scope), SetMetadata(RULES, rules)];
  return (controller, handler, descriptor) =>
    applyDecorators(...decorators, apiOperation(String(handler)))(controller, handler, descriptor);
}

const pathParameter = (name: string): ParameterDescription => ({
  in: 'path',
  required: true,
  description: `The ${name.replaceAll('_', ' ')}.`,
});

function queryOf({ query = {}, isPage = false }: OperationRules): Record<string, ParameterDescription> {
  const page = {
    limit: 'Number of items: at most 1000, and 500 events.',
    cursor: '`next` of the previous page.',
  };
  const all = Object.entries({ ...query, ...(isPage && page) });
  return Object.fromEntries(all.map(([name, description]) => [name, { in: 'query', description }]));
}

function conditionsOf(
  method: string,
  { needsVersion, creates }: OperationRules,
): Record<string, ParameterDescription> {
  return {
    ...(needsVersion && {
      'If-Match': { in: 'header', required: true, description: '`ETag` of the version to change; or `*`.' },
    }),
    ...(method === 'post' && {
      'Idempotency-Key': {
        in: 'header',
        required: creates === true,
        description: 'A new random value for each request; a retry repeats it, and gets the same response.',
      },
    }),
  };
}

function headersOf({ hasVersion, creates, isPage }: OperationRules): Record<string, HeaderDescription> {
  return {
    ...(hasVersion && { ETag: { description: 'Version, for `If-Match`.', required: true } }),
    ...(creates && { Location: { description: 'Path of the new resource.', required: true } }),
    ...(isPage && { Link: { description: 'The next page: `rel="next"` (RFC 8288).' } }),
  };
}
