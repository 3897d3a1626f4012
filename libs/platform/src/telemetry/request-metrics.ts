import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { logContext } from '../logging/log-context.js';
import type { Metrics } from './metrics.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Checks that refuse a login: a wrong password, or too many attempts. */
const LOGIN_CHECKS = new Set(['user', 'password', 'disabled', 'login_throttle', 'password_gate']);

/**
 * Measures every request by its route template, never by its path: clients can make up paths. Names follow OpenTelemetry's
 * conventions for HTTP servers.
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
  fastify.addHook('onResponse', (request, reply, done) => {
    const http_route = routeOf(request);
    const http_request_method = METHODS.has(request.method) ? request.method : '_OTHER';
    const labels = { http_request_method, http_route, http_response_status_code: reply.statusCode };
    duration.observe(labels, reply.elapsedTime / 1000);
    const error = errorOf(request, reply);
    if (error !== undefined) refused.inc({ http_route, error });
    const { check, counter } = logContext(request.raw);
    if (http_route === '/auth/login' && typeof check === 'string' && LOGIN_CHECKS.has(check))
      logins.inc({ check, counter: typeof counter === 'string' ? counter : 'none' });
    done();
  });
}

/** The template of the route that answered; `unmatched` for all paths that do not exist. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

const CODE = /^[a-z_]{1,40}$/;

/**
 * The error code of the answer; undefined for none. A protected resource has it in its challenge (RFC 6750 3.1), which has none
 * for a request without a token: that is `token_required` here.
 */
export function errorOf(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const { error } = logContext(request.raw);
  if (typeof error !== 'string' || !CODE.test(error)) return undefined;
  const challenge = reply.getHeader('www-authenticate');
  if (typeof challenge !== 'string' || challenge.startsWith('Basic')) return error;
  return /\berror="([a-z_]{1,40})"/.exec(challenge)?.[1] ?? 'token_required';
}
