import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

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
