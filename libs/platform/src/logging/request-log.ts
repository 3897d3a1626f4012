import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

// On the request itself: a WeakMap costs a hash look-up each time, and a spread for each addition.
const LOG_CONTEXT = Symbol('log context');
const REFERENCE = Symbol('reference');

interface LoggedRequest extends IncomingMessage {
  [LOG_CONTEXT]?: Record<string, unknown>;
  [REFERENCE]?: string;
}

/** Adds fields to the request's log line. Never pass a token, code, secret, cookie, password or body. */
export function addLogContext(request: LoggedRequest, fields: Readonly<Record<string, unknown>>): void {
  Object.assign((request[LOG_CONTEXT] ??= {}), fields);
}

/** The fields that have been added so far. */
export function logContext(request: LoggedRequest): Readonly<Record<string, unknown>> {
  return request[LOG_CONTEXT] ?? {};
}

/** An error that is answered, such as OAuthError. */
export interface AnsweredError {
  readonly code: string;
  readonly status: number;
  readonly description: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Adds an error to the request's log line: the failed check and its values, and for an error of our own where it happened. */
export function addErrorToLog(request: IncomingMessage, error: AnsweredError): void {
  const { code, status, description, detail, cause } = error;
  addLogContext(request, {
    error: code,
    description,
    ...detail,
    ...(status >= 500 && cause instanceof Error && { cause: cause.message, stack: cause.stack }),
  });
}

/** The id under which the request is logged; error answers carry it as `error_reference`. */
export function referenceOf(request: LoggedRequest): string {
  return request[REFERENCE] ?? 'none';
}

const REFERENCE_BYTES = 9;
/** For 512 references: one call of the system's generator costs as much as all the rest of a reference. */
const pool = Buffer.allocUnsafe(512 * REFERENCE_BYTES);
let used = pool.length;

/** Gives a request its reference. It is made here and never taken from the request, as it goes to the client. */
export function assignReference(request: LoggedRequest): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const reference = pool.toString('base64url', used, (used += REFERENCE_BYTES));
  request[REFERENCE] = reference;
  return reference;
}

/**
 * Writes one line for each request: method, path without its query, status, duration and log context. Headers carry
 * credentials and queries carry codes: neither is ever logged.
 *
 * An aborted request has two: one when its connection closes, and one when its handler is done, which says what became of it.
 * The client does not know whether its refresh was carried out, and gave up perhaps because a dependency was slow.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  const aborted = new WeakSet<IncomingMessage>();
  fastify.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    const level = statusCode >= 500 ? 'error' : 'info';
    if (logger.isLevelEnabled(level) && !aborted.has(request.raw)) {
      const message = statusCode < 400 ? 'answered' : statusCode < 500 ? 'refused' : 'failed';
      const outcome = { res: { statusCode }, responseTime: Math.round(elapsedTime) };
      logger[level](describe(request.raw, outcome), message);
    }
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    aborted.add(request.raw);
    logger.info(describe(request.raw), 'aborted');
    done();
  });
  // Fastify calls no onResponse for an answer that cannot be sent.
  fastify.addHook('onSend', (request, { raw, statusCode }, payload, done) => {
    if (raw.destroyed && aborted.has(request.raw)) {
      const level = statusCode >= 500 ? 'error' : 'info';
      logger[level](describe(request.raw, { res: { statusCode } }), 'not delivered');
    }
    done(null, payload);
  });
}

/** The line of a request that failed before the framework got it. */
export function logFailure(logger: Logger, request: IncomingMessage, statusCode: number): void {
  if (logger.isLevelEnabled('error')) logger.error(describe(request, { res: { statusCode } }), 'failed');
}

function describe(request: IncomingMessage, outcome?: object): Record<string, unknown> {
  const { method, url = '' } = request;
  const req = { method, path: pathOf(url) };
  return { reference: referenceOf(request), req, ...logContext(request), ...outcome };
}

/** Paths of ours are shorter; a request may have one of 16 KiB. */
const MAX_PATH = 200;

/**
 * The path, decoded, because a credential with an encoded character would not be recognized. Every path that is routed can be
 * decoded (`requestTarget`). A request target has no fragment (RFC 9112 3.2.1), but a client may send one, and it may hold what
 * a query holds.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return (path.includes('%') ? decodeURIComponent(path) : path).slice(0, MAX_PATH);
}
