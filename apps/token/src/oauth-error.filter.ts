import type { IncomingMessage } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { descriptionOf } from '#error-guide/error-description.js';
import { errorUri } from '#error-guide/error-guide.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { LIMITS } from '#oauth/parameters.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';
import { TokenConfiguration } from './token.configuration.js';

/** Renders every error as in RFC 6749 5.2, with the reference of the request's log line. */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  constructor(private readonly configuration: TokenConfiguration) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error =
      thrown instanceof OAuthError ? thrown : OAuthError.fromFailure(failedRequest(thrown, request));
    const description = descriptionOf(error.reason);
    addErrorToLog(request.raw, error, description);
    const told = description + urlHint(error, request.url);
    const body = errorBody(error, request.raw, this.configuration.BASE_URL, told);
    void reply.status(error.status).headers(error.headers).send(body);
  }
}

const CAUSED_BY_URL: readonly string[] = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'method_not_allowed',
];

/** Mentions parameters in the URL, which must be in the body (RFC 6749 2.3.1, 3.2) and are never read. */
function urlHint({ code }: OAuthError, url: string): string {
  const names = [...new URLSearchParams(url.split('?')[1] ?? '').keys()];
  const isCause = CAUSED_BY_URL.includes(code) && names.some((name) => Object.hasOwn(LIMITS, name));
  return isCause ? '; parameters in the URL are ignored: send them in the body' : '';
}

/** Returns the body of RFC 6749 5.2. The page at `error_uri` explains the failed check. */
export function errorBody(
  { code, detail, reason }: OAuthError,
  request: IncomingMessage,
  baseUrl: string,
  description = descriptionOf(reason),
): object {
  return {
    error: code,
    error_description: description,
    error_uri: errorUri(baseUrl, detail.check, code),
    error_reference: referenceOf(request),
  };
}
