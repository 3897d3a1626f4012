import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { OAuthError } from '../oauth/oauth-error.js';

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

function methodsOf(server: FastifyInstance, url: string): HTTPMethods[] {
  return METHODS.filter((method) => server.hasRoute({ method, url }));
}

export const allowedMethods = { refine };
