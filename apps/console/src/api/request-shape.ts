import type { FastifyRequest } from 'fastify';
import { refuseInvalid } from '#platform/validation/administration.error.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { queryOf } from '#pages/form.js';
import { mediaTypesOf, type OperationRules, parametersOf } from './operation-rules.js';
import { located, pointerTo } from './problem-location.js';
import { fieldOfMember } from '#operations/member-names.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    unknown_parameter: null;
    parameter_repeated: null;
  }
}

/**
 * Refuses what the operation does not describe: media types, members, parameters, and repeated parameters.
 * @throws RefusedRequestError 406 or 415, AdministrationError
 */
export function checkShape({ method, url, headers, body }: FastifyRequest, rules: OperationRules): void {
  const { produces = ['application/json'] } = rules;
  if (!accepts(headers.accept, produces))
    throw new RefusedRequestError(406, `the response is ${produces.join(', ')}: change the header Accept`, {
      detail: { check: 'not_acceptable' },
    });
  const hasBody = body !== undefined && body !== null;
  const types = mediaTypesOf(method, rules);
  const [sent = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (hasBody && !types.includes(sent.trim().toLowerCase()))
    throw new RefusedRequestError(415, `the body must be ${types.join(' or ')}`, {
      headers: { Accept: types.join(', ') },
      detail: { check: 'media_type_unsupported' },
    });
  refuseInvalid([
    ...queryProblems(url, rules),
    ...(hasBody && !Buffer.isBuffer(body) ? memberProblems(body, rules) : []),
  ]);
}

function queryProblems(url: string, rules: OperationRules): Problem[] {
  const query = queryOf(url);
  const described = parametersOf(rules);
  return [...new Set(query.keys())].flatMap((name): Problem[] => {
    const location = located({ parameter: name });
    if (!Object.hasOwn(described, name)) return [{ ...problem('unknown_parameter', name), ...location }];
    if (query.getAll(name).length === 1 || rules.lists?.includes(name)) return [];
    return [{ ...problem('parameter_repeated', name), ...location }];
  });
}

function memberProblems(body: unknown, { input = {} }: OperationRules): Problem[] {
  const { properties = {} } = input as { readonly properties?: object };
  return Object.keys(body as object)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => ({
      ...problem('unknown_field', fieldOfMember(name)),
      ...located({ pointer: pointerTo(name) }),
    }));
}

/** Compares the media ranges of Accept (RFC 9110 12.5.1) without their parameters, except for the weight 0. */
function accepts(header: string | undefined, types: readonly string[]): boolean {
  const ranges = (header ?? '').toLowerCase().split(',');
  return ranges.some((text) => {
    const [range = '', ...parameters] = text.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter))) return false;
    if (range === '' || range === '*/*') return true;
    return types.some((type) => type === range || type.replace(/\/.*/, '/*') === range);
  });
}
