import type { IncomingMessage } from 'node:http';
import { addLogContext } from '../logging/log-context.js';
import type { OAuthError } from '#oauth/oauth-error.js';

/** Puts the failed check and its values on the request's log line; for our own failures, where they happened as well. */
export function noteError(request: IncomingMessage, error: OAuthError): void {
  const { cause } = error;
  addLogContext(request, {
    error: error.code,
    description: error.description,
    ...error.detail,
    ...(error.status >= 500 && cause instanceof Error && { cause: cause.message, stack: cause.stack }),
  });
}
