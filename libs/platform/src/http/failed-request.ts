import { STATUS_CODES } from 'node:http';
import { HttpException, NotFoundException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { DependencyUnavailableError } from '../errors.js';

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent to the client. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Refusal of a request, rendered by the app's exception filter. */
export class RefusedRequestError extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: Readonly<Record<string, unknown>>;

  /** @param description text for the client, which must not quote the request */
  constructor(
    readonly status: 400 | 403 | 405 | 406 | 409 | 412 | 415 | 422 | 428 | 429 | 502 | 503,
    readonly description: string,
    { headers = {}, detail = {}, cause }: Options = {},
  ) {
    super(description, { cause });
    this.name = 'RefusedRequestError';
    this.headers = headers;
    this.detail = detail;
  }
}

/** Returns the error code for the log. RFC 6749 defines no code for a refused page or API request. */
export function statusName(status: number): string {
  return (STATUS_CODES[status] ?? 'error').toLowerCase().replaceAll(/\W+/g, '_');
}

/** Description of a failed HTTP request, which the app's exception filter renders in its protocol. */
export interface FailedRequest {
  readonly status: number;
  /** Sent to the client; absent if the error's message may quote the request. */
  readonly description?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Logged, never sent to the client. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly cause: unknown;
}

/** @param request if present, a 404 becomes a 405 if the path supports another method */
export function failedRequest(thrown: unknown, request?: FastifyRequest): FailedRequest {
  const error = request ? refineNotFound(thrown, request) : thrown;
  if (error instanceof RefusedRequestError) {
    const { status, description, headers, detail, cause } = error;
    return { status, description, headers, detail, cause };
  }
  if (error instanceof DependencyUnavailableError)
    return { status: 503, headers: {}, detail: { dependency: error.dependency }, cause: error };
  const status = httpStatusOf(error);
  return {
    status: status !== undefined && status < 500 ? status : 500,
    headers: {},
    detail: {},
    cause: error,
  };
}

/** Returns the status of an error from Nest or Fastify (bad content length, body too large, …). */
function httpStatusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : undefined;
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110 15.5.6: responds 405 with Allow if the path supports another method. The router only responds 404. */
function refineNotFound(thrown: unknown, { server, url }: FastifyRequest): unknown {
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
 * Returns false for a path with pattern characters, which no route contains, because Fastify's `hasRoute` throws for
 * malformed patterns.
 */
export function hasRoute(server: FastifyInstance, method: HTTPMethods, path: string): boolean {
  return !/[:*()]/.test(path) && server.hasRoute({ method, url: path });
}
