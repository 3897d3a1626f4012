import type { IncomingMessage } from 'node:http';

const LOG_CONTEXT = Symbol('log context');

interface WithContext {
  [LOG_CONTEXT]?: Record<string, unknown>;
}

/** Adds fields to the request's log line. Never pass a token, code, secret, cookie, password or body. */
export function addLogContext(request: IncomingMessage, fields: Readonly<Record<string, unknown>>): void {
  Object.assign(((request as WithContext)[LOG_CONTEXT] ??= {}), fields);
}

/** The fields that have been added so far. */
export function logContext(request: IncomingMessage): Readonly<Record<string, unknown>> {
  return (request as WithContext)[LOG_CONTEXT] ?? {};
}

/** The id under which the request is logged; error answers carry it as `error_reference`. */
export function referenceOf(request: IncomingMessage): string {
  return typeof request.id === 'string' ? request.id : 'none';
}
