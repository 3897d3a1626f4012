import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Readiness } from '../health/readiness.js';
import type { RequestObserver } from '../http/request-hooks.js';
import { logContext } from '../logging/request-log.js';
import { ClientRefusals } from './client-refusals.js';

/** In seconds, from cached responses to the timeouts of dependencies. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registry of metrics. Labels must have few values, and never a client, a user, a raw path or other caller input. */
export class Metrics {
  readonly registry = new Registry();

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return this.once(name, () => new Counter({ name, help, labelNames, registers: [this.registry] }));
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return this.once(name, () => new Gauge({ name, help, labelNames, registers: [this.registry] }));
  }

  /** Reads the value at each scrape. */
  measure(name: string, help: string, read: () => number | Promise<number>): void {
    this.once(name, () => {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [this.registry],
        collect: async () => gauge.set(await read()),
      });
      return gauge;
    });
  }

  histogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    const options = { name, help, labelNames, buckets: DURATION_BUCKETS, registers: [this.registry] };
    return this.once(name, () => new Histogram(options));
  }

  private once<M extends Metric>(name: string, make: () => M): M {
    return (this.registry.getSingleMetric(name) as M | undefined) ?? make();
  }
}

export function countLookups(metrics: Metrics, cache: string): (result: string) => void {
  const counter = metrics.counter(
    'oauth_cache_lookups_total',
    'Lookups in a cache with invalidation by broadcasts, by result',
    ['cache', 'result'],
  );
  const children = new Map<string, { inc(): void }>();
  return (result) => {
    let child = children.get(result);
    if (!child) children.set(result, (child = counter.labels({ cache, result })));
    child.inc();
  };
}

export function measureDependencies(metrics: Metrics, readiness: Readiness): void {
  const gauge: Gauge<'dependency'> = new Gauge({
    name: 'oauth_dependency_up',
    help: 'Availability of the dependency: 1 or 0',
    labelNames: ['dependency'],
    registers: [metrics.registry],
    async collect() {
      const missing = await readiness.missing();
      for (const dependency of readiness.names) gauge.set({ dependency }, missing.has(dependency) ? 0 : 1);
    },
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const LOGIN_CHECKS = new Set([
  'user_unknown',
  'password_mismatch',
  'user_disabled',
  'login_throttled',
  'password_queue_full',
  'login_transaction_invalid',
  'login_cancelled',
  'login_response_invalid',
  'login_user_disabled',
  'login_unavailable',
  'login_starts_exceeded',
]);
const LOGIN_ROUTES = new Set(['/auth/login', '/auth/login/callback']);

/** Measures requests by route template, because clients can make up paths. Names follow OpenTelemetry's conventions. */
export function requestMetrics(metrics: Metrics): RequestObserver {
  const duration = metrics.histogram('http_server_request_duration_seconds', 'Duration of requests', [
    'http_request_method',
    'http_route',
    'http_response_status_code',
  ]);
  const refused = metrics.counter(
    'oauth_errors_total',
    'Requests answered with an error, by the error code of RFC 6749, 6750 or 9449; in the console by the status',
    ['http_route', 'error'],
  );
  const logins = metrics.counter(
    'oauth_login_refusals_total',
    'Refused logins by failed check; for throttled logins also by the exhausted counter',
    ['check', 'counter'],
  );
  const refusals = new ClientRefusals();
  metrics.measure(
    'oauth_client_refusals',
    'Refused requests in a minute of the client with the most of them',
    () => refusals.max,
  );
  return {
    onAnswered(request, reply) {
      const http_route = routeOf(request);
      const http_request_method = METHODS.has(request.method) ? request.method : '_OTHER';
      const labels = { http_request_method, http_route, http_response_status_code: reply.statusCode };
      duration.observe(labels, reply.elapsedTime / 1000);
      const error = errorOf(request, reply);
      if (error !== undefined) refused.inc({ http_route, error });
      const { check, counter, client_id } = logContext(request.raw);
      if (error !== undefined && reply.statusCode < 500 && typeof client_id === 'string')
        refusals.count(client_id, error);
      if (LOGIN_ROUTES.has(http_route) && typeof check === 'string' && LOGIN_CHECKS.has(check))
        logins.inc({ check, counter: typeof counter === 'string' ? counter : 'none' });
    },
  };
}

export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

const CODE = /^[a-z_]{1,40}$/;

/**
 * Returns the error code of the response. A challenge without a code (RFC 6750 3.1, no token) counts as
 * `token_required`.
 */
export function errorOf(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const { error } = logContext(request.raw);
  if (typeof error !== 'string' || !CODE.test(error)) return undefined;
  const challenge = reply.getHeader('www-authenticate');
  if (typeof challenge !== 'string' || challenge.startsWith('Basic')) return error;
  return /\berror="([a-z_]{1,40})"/.exec(challenge)?.[1] ?? 'token_required';
}
