import { HttpException } from '@nestjs/common';
import { OAuthError } from '#oauth/oauth-error.js';
import { missingDependency } from './missing-dependency.js';

/**
 * Any error as the one error of the protocol: what the framework throws is given a standard code and words of our
 * own (its message may quote the request), what a dependency throws becomes 503, everything else a 500.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  switch (status) {
    case 404:
      return new OAuthError('not_found', 404, 'there is nothing at this path', { cause: error });
    case 405:
      return new OAuthError('method_not_allowed', 405, 'this path does not answer this method', {
        cause: error,
      });
    case 413:
      return new OAuthError('invalid_request', 413, 'the body is larger than 64 KiB', { cause: error });
    case 415: {
      const description = 'send application/x-www-form-urlencoded or application/json';
      return new OAuthError('invalid_request', 415, description, { cause: error });
    }
    default:
      if (status !== undefined && status < 500)
        return new OAuthError('invalid_request', 400, 'the request is malformed', { cause: error });
  }
  const dependency = missingDependency(error);
  return dependency === undefined
    ? OAuthError.serverError({ cause: error })
    : OAuthError.unavailable({ cause: error, detail: { dependency } });
}

/** Fastify's own errors (bad content length, too large, …) carry a status code. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : undefined;
}
