import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refineNotFound } from '#platform/http/refused-request.js';
import { addErrorToLog } from '#platform/logging/request-log.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** Error codes of the API, by status. WWW-Authenticate has the error code of RFC 6750 or 9449. */
const CODES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  503: 'SERVICE_UNAVAILABLE',
};

/** Answers every error in the shape of the product's API: `{status, timestamp, path, error: {code, message}}`. */
@Catch()
export class ResourceErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.errorOf(refineNotFound(thrown, request));
    addErrorToLog(request.raw, error);
    void reply.status(error.status).headers(error.headers).send(errorBody(error, request));
  }

  /** Keeps the messages of the guard's exceptions. Other messages of the framework may quote the request. */
  private errorOf(thrown: unknown): OAuthError {
    const ours = thrown instanceof HttpException && [400, 401, 403, 503].includes(thrown.getStatus());
    return ours
      ? new OAuthError('invalid_request', thrown.getStatus(), thrown.message, { cause: thrown.cause })
      : OAuthError.from(thrown);
  }
}

/** An error in the shape of the product's API. */
export function errorBody({ status, description }: OAuthError, { url }: FastifyRequest): object {
  return {
    status: 'error',
    timestamp: new Date().toISOString(),
    path: url.split('?', 1)[0],
    error: { code: CODES[status] ?? 'INTERNAL_SERVER_ERROR', message: description },
  };
}
