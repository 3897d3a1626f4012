import type { IncomingMessage } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failedRequest } from '#platform/http/failed-request.js';
import { TokenRefusedError } from '#introspection/refusals.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** Error codes by HTTP status. WWW-Authenticate contains the error code of RFC 6750 or RFC 9449. */
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

/** Header of the error reference, because the error body has no field for it. */
const ERROR_REFERENCE = 'Error-Reference';

@Catch()
export class ResourceErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.errorOf(thrown, request);
    addErrorToLog(request.raw, error);
    void reply
      .status(error.status)
      .headers(error.headers)
      .header(ERROR_REFERENCE, referenceOf(request.raw))
      .send(errorBody(error, request.raw));
  }

  /** Keeps messages of the guard. Replaces messages of the framework, because they may quote the request. */
  private errorOf(thrown: unknown, request: FastifyRequest): OAuthError {
    if (thrown instanceof OAuthError) return thrown;
    const failure = failedRequest(thrown, request);
    if (!(thrown instanceof HttpException)) return OAuthError.fromFailure(failure);
    const { message, cause } = thrown;
    if (cause instanceof TokenRefusedError)
      return new OAuthError(cause.code, thrown.getStatus(), message, { detail: cause.detail, cause });
    if (cause instanceof DependencyUnavailableError)
      return new OAuthError('temporarily_unavailable', thrown.getStatus(), message, {
        detail: { dependency: cause.dependency },
        cause,
      });
    return OAuthError.fromFailure(failure);
  }
}

export function errorBody({ status, description }: OAuthError, { url = '' }: IncomingMessage): object {
  return {
    status: 'error',
    timestamp: new Date().toISOString(),
    path: url.split('?', 1)[0],
    error: { code: CODES[status] ?? 'INTERNAL_SERVER_ERROR', message: description },
  };
}
