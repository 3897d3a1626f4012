import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { AdministrationError, type Problem } from '#administration/administration.error.js';
import type { Expected } from '#administration/expected-version.js';
import type { Actor } from '#administration/operation.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { isDeeperThan } from '#platform/json-depth.js';
import { queryOf } from '../form.js';
import type { ApiRequest } from './api.guard.js';
import { expectedVersion } from './if-match.js';

type Values = Readonly<Record<string, unknown>>;

export interface ChangeRequest {
  readonly actor: Actor;
  /** Empty if the path has no id. */
  readonly id: string;
  readonly part: string;
  /** Empty without an If-Match header, and for `*`. */
  readonly expected: Expected;
  readonly input: Values;
}

export const RequestedChange = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ChangeRequest => {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const { actor, body = {}, params, headers } = request;
    const { id = '', part = '' } = params as Readonly<Record<string, string>>;
    const expected = headers['if-match'] === undefined ? {} : expectedVersion(request);
    return { actor, id, part, expected, input: inputOf(Object.entries(body as object)) };
  },
);

interface QueryShape {
  readonly cursor?: 'after' | 'before';
  readonly numbers?: readonly string[];
  readonly flags?: readonly string[];
  readonly lists?: readonly string[];
}

/** Injects the query as the input of an operation. The operation rejects unknown parameters. */
export const Query = createParamDecorator((shape: QueryShape, context: ExecutionContext): Values => {
  const { cursor = 'cursor', numbers = ['limit'], flags = [], lists = [] } = shape;
  const query = queryOf(context.switchToHttp().getRequest<ApiRequest>().url);
  const valueOf = (name: string): unknown => {
    const text = query.text(name);
    if (numbers.includes(name)) return text === '' ? NaN : Number(text);
    if (lists.includes(name)) return query.getAll(name);
    return flags.includes(name) && /^(?:true|false)$/.test(text) ? text === 'true' : text;
  };
  const names = [...new Set(query.keys())];
  const { cursor: from, ...input } = inputOf(names.map((name) => [name, valueOf(name)]));
  return { ...input, ...(from !== undefined && { [cursor]: from }) };
});

/** Rejects names that no operation can accept, such as `redirectUris` (camel case), `__proto__` and `constructor`. */
function inputOf(members: readonly (readonly [string, unknown])[]): Values {
  const problems = members
    .filter(([name]) => !/^[a-z]+(?:_[a-z]+)*$/.test(name) || fieldOf(name) in Object.prototype)
    .map(([field]): Problem => ({ id: 'unknown_field', field, message: 'not a member of this request' }));
  if (problems.length > 0) throw new AdministrationError('invalid', problems);
  return Object.fromEntries(members.map(([name, value]) => [fieldOf(name), value]));
}

const DPOP = 'dpop_bound_access_tokens';

function fieldOf(member: string): string {
  if (member === DPOP) return 'dpopBound';
  return member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function memberOf(field: string): string {
  if (field === 'dpopBound') return DPOP;
  if (field === 'after' || field === 'before') return 'cursor';
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Maximum depth of nesting. A JWK Set has four levels. */
const MAX_LEVELS = 10;

export function parseApiBody(text: string): object | undefined {
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body) && !isDeeperThan(MAX_LEVELS, body))
    return body;
  throw new RefusedRequestError(400, `the body must be a JSON object with at most ${MAX_LEVELS} levels`);
}
