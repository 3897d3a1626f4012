import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LOGO_MEDIA_TYPES, MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { AdministrationError, refused } from '#platform/validation/administration.error.js';
import type { Actor } from '#operations/audit-trail.js';
import type { ClientTokenInfo } from '#introspection/index.js';
import { problem } from '#platform/validation/problem.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { queryOf } from '#pages/form.js';
import type { ApiRequest } from './api.guard.js';
import type { Condition } from './conditions.js';
import { rulesOf } from './operation-rules.js';
import { duplicateMember, isDeeperThan } from '#platform/json.js';
import { located, pointerTo } from './problem-location.js';
import { fieldOfMember } from '#operations/member-names.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    member_repeated: null;
  }
}

type Values = Readonly<Record<string, unknown>>;

export interface ChangeRequest {
  readonly actor: Actor;
  readonly token: ClientTokenInfo;
  /** Empty if the path has no id. */
  readonly id: string;
  readonly part: string;
  /** Empty for an operation without If-Match, and for `*`. */
  readonly expected: Condition;
  readonly input: Values;
  readonly query: Values;
}

/** Reads logos. A page accepts a logo only in a form. */
export function acceptImages(fastify: FastifyInstance): void {
  const options = { parseAs: 'buffer', bodyLimit: MAX_LOGO_BYTES } as const;
  for (const type of LOGO_MEDIA_TYPES)
    fastify.addContentTypeParser(type, options, (_request: FastifyRequest, body: Buffer, done) => {
      done(null, body);
    });
}

/** Injects a request whose members `ApiGuard` has checked. */
export const RequestedChange = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ChangeRequest => {
    const { actor, token, body, params, expected = {} } = context.switchToHttp().getRequest<ApiRequest>();
    const { id = '', part = '' } = params as Readonly<Record<string, string>>;
    const entries = Object.entries(body ?? {}).map(([name, value]) => [fieldOfMember(name), value]);
    const input = Object.fromEntries(entries) as Values;
    return { actor, token, id, part, expected, input, query: queryInput(context) };
  },
);

/** Injects the query as the input of an operation. */
export const Query = createParamDecorator((_data: unknown, context: ExecutionContext) => queryInput(context));

/** `ApiGuard` has checked the names. */
function queryInput(context: ExecutionContext): Values {
  const { flags = [], lists = [] } = rulesOf(context.getHandler());
  const query = queryOf(context.switchToHttp().getRequest<ApiRequest>().url);
  const valueOf = (name: string): unknown => {
    const text = query.text(name);
    if (name === 'limit') return text === '' ? NaN : Number(text);
    if (lists.includes(name)) return query.getAll(name);
    return flags.includes(name) ? flagParameter(name, text) : text;
  };
  const names = [...new Set(query.keys())];
  return Object.fromEntries(names.map((name) => [fieldOfMember(name), valueOf(name)])) as Values;
}

function flagParameter(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  const found = problem('type', fieldOfMember(name), { expected: 'flag' });
  throw refused('invalid', { ...found, ...located({ parameter: name }) });
}

/** Maximum depth of nesting. A JWK Set has four levels. */
const MAX_LEVELS = 10;

/** Parses a body, for `bodyParsers`. @returns undefined for an empty body */
export function parseApiBody(text: string): object | undefined {
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new RefusedRequestError(400, 'the body is not JSON', {
      detail: { check: 'body_malformed' },
      cause,
    });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refusedBody('body_not_object', 'the body must be a JSON object');
  if (isDeeperThan(MAX_LEVELS, body))
    throw refusedBody('body_too_deep', `the body has more than ${MAX_LEVELS} levels`);
  const repeated = duplicateMember(text);
  if (repeated === null) return body;
  throw new AdministrationError('invalid', [
    {
      ...problem('member_repeated', []),
      ...(!repeated.isNested && located({ pointer: pointerTo(repeated.name) })),
    },
  ]);
}

function refusedBody(check: string, description: string): RefusedRequestError {
  return new RefusedRequestError(400, description, { detail: { check } });
}
