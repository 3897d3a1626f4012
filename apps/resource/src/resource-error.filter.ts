import type { IncomingMessage } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failedRequest } from '#platform/http/failed-request.js';
import { TokenRefusedError } from '#introspection/refusals.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { addErrorToLog, type LoggedError, referenceOf } from '#platform/logging/request-log.js';
import { textOf } from '#error-guide/descriptions.js';
import { REQUEST_DESCRIPTIONS } from '#error-guide/request-checks.js';
import { SERVICE_DESCRIPTIONS } from '#error-guide/service-checks.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Reason, RequestReasons, ServiceReasons } from '#oauth/reasons.js';

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

/** Descriptions of the only reasons of this app: bodies that cannot be read, and failures. */
const DESCRIPTIONS = { ...REQUEST_DESCRIPTIONS, ...SERVICE_DESCRIPTIONS };

interface DescribedError extends LoggedError {
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

@Catch()
export class ResourceErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = describedError(thrown, request);
    addErrorToLog(request.raw, error, error.description);
    void reply
      .status(error.status)
      .headers(error.headers ?? {})
      .header(ERROR_REFERENCE, referenceOf(request.raw))
      .send(errorBody(error, request.raw));
  }
}

/** Keeps messages of the guard. Replaces messages of the framework, because they may quote the request. */
function describedError(thrown: unknown, request: FastifyRequest): DescribedError {
  if (thrown instanceof HttpException) {
    const { message: description, cause } = thrown;
    const status = thrown.getStatus();
    if (cause instanceof TokenRefusedError)
      return { code: cause.code, status, description, detail: cause.detail, cause };
    if (cause instanceof DependencyUnavailableError) {
      const detail = { dependency: cause.dependency };
      return { code: 'temporarily_unavailable', status, description, detail, cause };
    }
  }
  return described(
    thrown instanceof OAuthError ? thrown : OAuthError.fromFailure(failedRequest(thrown, request)),
  );
}

export function described({ code, status, reason, headers, detail, cause }: OAuthError): DescribedError {
  const description = textOf(DESCRIPTIONS, reason as Reason<RequestReasons & ServiceReasons>);
  return { code, status, description, headers, detail, cause };
}

export function errorBody(
  { status, description }: Pick<DescribedError, 'status' | 'description'>,
  { url = '' }: IncomingMessage,
): object {
  return {
    status: 'error',
    timestamp: new Date().toISOString(),
    path: url.split('?', 1)[0],
    error: { code: CODES[status] ?? 'INTERNAL_SERVER_ERROR', message: description },
  };
}
