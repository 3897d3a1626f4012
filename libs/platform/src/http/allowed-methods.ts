import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The router knows no 405: a path that answers another method must say so, with Allow (RFC 9110 15.5.6). */
function refine(error: OAuthError, request: FastifyRequest): OAuthError {
  if (error.status !== 404) return error;
  const allow = methodsOf(request.server, request.url.split('?', 1)[0] ?? '').join(', ');
  if (allow === '') return error;
  return new OAuthError('method_not_allowed', 405, `this path answers ${allow} only`, {
    headers: { Allow: allow },
    cause: error,
  });
}

function methodsOf(server: FastifyInstance, path: string): HTTPMethods[] {
  return METHODS.filter((method) => answers(server, method, path));
}

/**
 * Whether a path without parameters answers a method. Fastify's `hasRoute` takes the pattern of a route, and throws for one
 * that is malformed: a path with characters of its syntax is none of ours.
 */
function answers(server: FastifyInstance, method: HTTPMethods, path: string): boolean {
  return !/[:*()]/.test(path) && server.hasRoute({ method, url: path });
}

export const allowedMethods = { refine, answers };
