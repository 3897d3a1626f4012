import { NotFoundException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';

interface Options {
  /** Response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent to the client. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Refusal of a request before it reaches a controller. The app's exception filter renders it. */
export class RefusedRequestError extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;

  /** @param description sent to the client; it must not quote the request */
  constructor(
    readonly status: 400 | 405 | 415 | 503,
    readonly description: string,
    { headers = {}, detail = {}, cause }: Options = {},
  ) {
    super(description, { cause });
    this.name = 'RefusedRequestError';
    this.headers = headers;
    this.detail = detail;
  }
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Replaces a 404 by 405 with Allow if the path supports another method (RFC 9110 15.5.6), because the router never
 * returns 405. Returns other errors unchanged.
 */
export function refineNotFound(thrown: unknown, { server, url }: FastifyRequest): unknown {
  if (!(thrown instanceof NotFoundException)) return thrown;
  const [path = ''] = url.split('?', 1);
  const allow = METHODS.filter((method) => hasRoute(server, method, path)).join(', ');
  if (allow === '') return thrown;
  return new RefusedRequestError(405, `this path answers ${allow} only`, {
    headers: { Allow: allow },
    cause: thrown,
  });
}

/**
 * Returns true if a path without parameters supports a method. Fastify's `hasRoute` expects a route pattern and throws
 * on malformed ones; none of our paths contains pattern characters.
 */
export function hasRoute(server: FastifyInstance, method: HTTPMethods, path: string): boolean {
  return !/[:*()]/.test(path) && server.hasRoute({ method, url: path });
}
