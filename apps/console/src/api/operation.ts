import {
  applyDecorators,
  Controller,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Put,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { RequireClientToken, RequireScope } from '#introspection/index.js';
import {
  ApiOperation,
  json,
  type ParameterDescription,
  type ResponseDescription,
} from '#openapi/operation.js';

import { Public } from '#pages/route-rules.js';
import { ResponseInterceptor } from './response.interceptor.js';
import { ApiGuard } from './api.guard.js';
import { API, mediaTypesOf, type OperationRules, parametersOf, RULES } from './operation-rules.js';
import { problemResponses, RATE_LIMIT_HEADERS } from './problem.openapi.js';
import { listOf } from './schemas.js';

export function ApiController(noun: string): ClassDecorator {
  return applyDecorators(
    Controller(`${API}/${noun}`),
    Public(),
    RequireClientToken(),
    UseGuards(ApiGuard),
    UseInterceptors(ResponseInterceptor),
  );
}

const ROUTES = { get: Get, post: Post, put: Put, patch: Patch, delete: Delete } as const;

/** Uses the name of the handler as the operationId. */
export function Operation(
  method: keyof typeof ROUTES,
  path: string,
  options: OperationRules,
): MethodDecorator {
  const rules = { needsVersion: ['patch', 'put', 'delete'].includes(method), ...options };
  const scope = method === 'get' ? 'admin:read' : (rules.scope ?? 'admin:write');
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
        body: { types: mediaTypesOf(method, rules), schema: rules.input },
      }),
      responses: { ...successesOf(method, status, rules), ...problemResponses(method, rules) },
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

function queryOf(rules: OperationRules): Record<string, ParameterDescription> {
  const all = Object.entries(parametersOf(rules));
  return Object.fromEntries(all.map(([name, description]) => [name, { in: 'query', description }]));
}

function conditionsOf(
  method: string,
  { needsVersion, mayBeAbsent, creates }: OperationRules,
): Record<string, ParameterDescription> {
  return {
    ...(method === 'get' && {
      'If-None-Match': { in: 'header', description: '`ETag` of an earlier response.' },
      'If-Match': { in: 'header', description: '`ETag` that the response must have.' },
    }),
    ...(mayBeAbsent && {
      'If-None-Match': { in: 'header', description: '`*`: only if there is none yet.' },
    }),
    ...(needsVersion && {
      'If-Match': {
        in: 'header',
        required: mayBeAbsent !== true,
        description: '`ETag` of the version to change; or `*`.',
      },
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

function successesOf(
  method: string,
  status: number,
  rules: OperationRules,
): Record<number, ResponseDescription> {
  const { returns, produces, isPage, isWholeList, hasVersion, creates, mayBeAbsent } = rules;
  const headers = {
    ...RATE_LIMIT_HEADERS,
    ...((method === 'get' || hasVersion || creates) && {
      ETag: { description: 'Version, for `If-Match` and `If-None-Match`.', required: !creates },
    }),
  };
  const location = { Location: { description: 'Path of the new resource.', required: true } };
  const link = {
    Link: { description: 'Older and newer records: `rel="next"` and `rel="prev"` (RFC 8288).' },
  };
  const content = returns && json(isPage || isWholeList ? listOf(returns) : returns);
  return {
    [status]: {
      description: status === 204 ? 'Done.' : status === 201 ? 'Created.' : 'The result.',
      headers: { ...headers, ...(creates && location), ...(isPage && link) },
      ...(content && {
        content: produces ? Object.fromEntries(produces.map((type) => [type, { schema: {} }])) : content,
      }),
    },
    ...(mayBeAbsent && { 201: { description: 'Created.', headers: { ...headers, ...location } } }),
    ...(method === 'get' && {
      304: { name: 'NotModified', description: 'The ETag is in `If-None-Match`.', headers },
    }),
  };
}
