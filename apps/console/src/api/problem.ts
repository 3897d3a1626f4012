import { STATUS_CODES } from 'node:http';
import { HttpException, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { TokenRefusedError } from '#introspection/refusals.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { type FailedRequest, failedRequest, RefusedRequestError } from '#platform/http/failed-request.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { originForm } from '#platform/http/request-parsing.js';
import { referenceOf } from '#platform/logging/request-log.js';
import { API } from './operation-rules.js';
import { locationOf } from './problem-location.js';
import { memberOf } from '#operations/member-names.js';
import { causeOf, PROBLEM_TYPE } from './problem.openapi.js';

/** Also checks the original path, because the router replaces a malformed path. */
export function isApiRequest({ url, originalUrl }: FastifyRequest): boolean {
  return [url, originForm(originalUrl)].some((path) => path.startsWith(`${API}/`) || path === API);
}

/**
 * Sends problem details (RFC 9457).
 * @param id of the problem, if it is not an AdministrationError
 * @param baseUrl origin of the error guide
 */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, description = causeOf(status), headers }: FailedRequest,
  { thrown, id, baseUrl }: { readonly thrown: unknown; readonly id: string; readonly baseUrl: string },
): void {
  const refused = thrown instanceof Error && thrown.cause instanceof TokenRefusedError ? thrown.cause : null;
  const problem = {
    type: refused ? `${baseUrl}${ENDPOINTS.errors}#${refused.code}` : 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    id: thrown instanceof AdministrationError ? idOf(thrown) : id,
    detail: description,
    ...(thrown instanceof AdministrationError && { errors: errorsOf(thrown, request) }),
    error_reference: referenceOf(request.raw),
  };
  void reply.status(status).headers(headers).type(PROBLEM_TYPE).send(JSON.stringify(problem));
}

/** Invalid input may have several problems, which `errors` lists. Any other error has one. */
function idOf({ kind, problems }: AdministrationError): string {
  return kind === 'invalid' ? 'invalid_input' : memberOf(problems[0]?.id ?? kind);
}

export function tokenFailure(thrown: unknown): FailedRequest | null {
  if (!(thrown instanceof HttpException)) return null;
  const { cause } = thrown;
  if (cause instanceof DependencyUnavailableError) return failedRequest(cause);
  if (!(cause instanceof TokenRefusedError)) return null;
  const { message: description, detail } = cause;
  return { status: thrown.getStatus(), description, headers: {}, detail, cause };
}

function errorsOf({ problems }: AdministrationError, request: FastifyRequest): object[] {
  return problems.map((problem) => ({
    // A missing confirmation has the name of its field as the id.
    id: memberOf(problem.id),
    detail: describeProblem(problem, memberOf),
    ...locationOf(problem, request),
  }));
}

/**
 * Returns a 405 error if a path with an id supports another method. `failedRequest` does this for a path without an id.
 */
export function withAllowedMethods(thrown: unknown, { url, server }: FastifyRequest): unknown {
  if (!(thrown instanceof NotFoundException)) return thrown;
  const [path = ''] = url.slice(API.length + 1).split('?', 1);
  const parts = path.split('/');
  const [noun = '', id, part = ''] = parts;
  if (id === undefined || /[:*()]/.test(noun + part)) return thrown;
  const pattern = [API, noun, ':id', part, ':part'].slice(0, parts.length + 1).join('/');
  const methods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const allow = methods.filter((method) => server.hasRoute({ method, url: pattern })).join(', ');
  if (allow === '') return thrown;
  return new RefusedRequestError(405, `this path answers ${allow} only`, {
    headers: { Allow: allow },
    detail: { check: 'method_not_allowed' },
  });
}
