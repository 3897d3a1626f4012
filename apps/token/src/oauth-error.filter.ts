import type { IncomingMessage } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorUri } from '#oauth/error-guide/error-guide.js';
import { OAuthError } from '#oauth/oauth-error.js';
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
    addErrorToLog(request.raw, error);
    const body = errorBody(error, request.raw, this.configuration.BASE_URL);
    void reply.status(error.status).headers(error.headers).send(body);
  }
}

/** Returns the body of RFC 6749 5.2. The page at `error_uri` explains the failed check. */
export function errorBody(
  { code, description, detail }: OAuthError,
  request: IncomingMessage,
  baseUrl: string,
): object {
  return {
    error: code,
    error_description: description,
    error_uri: errorUri(baseUrl, detail.check, code),
    error_reference: referenceOf(request),
  };
}
