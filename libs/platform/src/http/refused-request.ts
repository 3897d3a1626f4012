import { NotFoundException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';

interface Options {
  /** Answer headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the operator's log only. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A request that the platform refuses before it reaches a controller. An app's filter gives the answer its shape. */
export class RefusedRequestError extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;

  /** @param description goes to the client; it never quotes the request */
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
 * Replaces the router's 404 by 405 with Allow where the path answers another method (RFC 9110 15.5.6), as the router knows no
 * 405. Any other error is returned as it is.
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
 * Whether a path without parameters answers a method. Fastify's `hasRoute` expects a route pattern and throws on a malformed
 * one. None of our paths contains characters of that syntax.
 */
export function hasRoute(server: FastifyInstance, method: HTTPMethods, path: string): boolean {
  return !/[:*()]/.test(path) && server.hasRoute({ method, url: path });
}
