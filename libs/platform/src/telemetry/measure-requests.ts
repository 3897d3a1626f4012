import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { logContext } from '../logging/log-context.js';
import { errorOf } from './error-of.js';
import type { Metrics } from './metrics.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Checks by which a login is refused: a wrong password counts, and so does being told to wait. */
const LOGIN_CHECKS = new Set(['user', 'password', 'disabled', 'login_throttle', 'password_gate']);

/**
 * Measures every request by its route, which is the template and never the path: anybody can make up paths. Names
 * are those of OpenTelemetry's conventions for HTTP servers.
 */
export function measureRequests(fastify: Pick<FastifyInstance, 'addHook'>, metrics: Metrics): void {
  const duration = metrics.histogram(
    'http_server_request_duration_seconds',
    'How long requests took to be answered',
    ['http_request_method', 'http_route', 'http_response_status_code'],
  );
  const refused = metrics.counter(
    'oauth_errors_total',
    'Requests answered with an error, by the error code of RFC 6749, 6750 or 9449',
    ['http_route', 'error'],
  );
  const logins = metrics.counter(
    'oauth_login_refusals_total',
    'Logins refused, by the check that failed; for those told to wait by the counter that was full',
    ['check', 'counter'],
  );
  fastify.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const http_route = routeOf(request);
    const http_request_method = METHODS.has(request.method) ? request.method : '_OTHER';
    const labels = { http_request_method, http_route, http_response_status_code: reply.statusCode };
    duration.observe(labels, reply.elapsedTime / 1000);
    const error = errorOf(request, reply);
    if (error !== undefined) refused.inc({ http_route, error });
    const { check, counter } = logContext(request.raw);
    if (http_route === '/auth/login' && typeof check === 'string' && LOGIN_CHECKS.has(check))
      logins.inc({ check, counter: typeof counter === 'string' ? counter : 'none' });
  });
}

/** The template of the route that answered; one word for everything that is at no path of ours. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}
