import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { RequestObserver } from '../http/request-hooks.js';

// Properties of the request object, because each access to a WeakMap would cost a hash lookup.
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

export function logContext(request: LoggedRequest): Readonly<Record<string, unknown>> {
  return request[LOG_CONTEXT] ?? {};
}

export interface LoggedError {
  readonly code: string;
  readonly status: number;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Adds an error to the request's log line, with the failed check and its values, and for a 5xx cause and stack. */
export function addErrorToLog(request: IncomingMessage, error: LoggedError, description: string): void {
  const { code, status, detail, cause } = error;
  addLogContext(request, {
    error: code,
    description,
    ...detail,
    ...(status >= 500 && cause instanceof Error && { cause: cause.message, stack: cause.stack }),
  });
}

/** Returns the id of the request in the log, which error responses contain as `error_reference`. */
export function referenceOf(request: LoggedRequest): string {
  return request[REFERENCE] ?? 'none';
}

const REFERENCE_BYTES = 9;
/** Randomness for 512 references, so that not every request makes a system call. */
const pool = Buffer.allocUnsafe(512 * REFERENCE_BYTES);
let used = pool.length;

/** Generates the reference of a request. Never takes the reference from the request, because responses contain it. */
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
 * Writes one line per request, without headers and query, which contain credentials and codes. Writes a second line
 * with the outcome of an aborted request, because the client does not learn if its refresh succeeded.
 */
export function requestLog(logger: Logger): RequestObserver {
  return {
    onAnswered({ raw }, { statusCode, elapsedTime }, isAborted) {
      const level = statusCode >= 500 ? 'error' : 'info';
      if (isAborted || !logger.isLevelEnabled(level)) return;
      const message = statusCode < 400 ? 'answered' : statusCode < 500 ? 'refused' : 'failed';
      const outcome = { res: { statusCode }, responseTime: Math.round(elapsedTime) };
      logger[level](logFields(raw, outcome), message);
    },
    onAborted({ raw }) {
      logger.info(logFields(raw), 'aborted');
    },
    onUndelivered({ raw }, { statusCode }) {
      const level = statusCode >= 500 ? 'error' : 'info';
      logger[level](logFields(raw, { res: { statusCode } }), 'not delivered');
    },
  };
}

export function logFailure(logger: Logger, request: IncomingMessage, statusCode: number): void {
  if (logger.isLevelEnabled('error')) logger.error(logFields(request, { res: { statusCode } }), 'failed');
}

function logFields(request: IncomingMessage, outcome?: object): Record<string, unknown> {
  const { method, url = '' } = request;
  const req = { method, path: pathOf(url) };
  return { reference: referenceOf(request), req, ...logContext(request), ...outcome };
}

/** Limit above the length of every route. A request's path may have up to 16 KiB. */
const MAX_PATH = 200;

/**
 * Returns the decoded path, so that encoded credentials are redacted. Every routed path can be decoded
 * (`requestTarget`). Removes the query, and a fragment, which clients may send despite RFC 9112 3.2.1.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return (path.includes('%') ? decodeURIComponent(path) : path).slice(0, MAX_PATH);
}

const CREDENTIAL = /(s(?:ac|at|rt|cs|dc)_)[\w-]{16,}/g;

/** Truncates credentials to their prefixes, because callers may send them in a wrong place, such as a path. */
export function redactCredentials(line: string): string {
  return line.replaceAll(CREDENTIAL, '$1…');
}

/** Returns bytes, because SonicBoom would measure a growing string for each line, which copies the string. */
export function redactLine(line: string): string {
  return Buffer.from(redactCredentials(line)) as unknown as string;
}
