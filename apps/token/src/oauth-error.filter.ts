import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';
import { refineNotFound } from '#platform/http/refused-request.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';

/** Answers every error in the shape of RFC 6749 5.2, with the reference under which the log says more. */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = OAuthError.from(refineNotFound(thrown, request));
    addErrorToLog(request.raw, error);
    void reply.status(error.status).headers(error.headers).send(errorBody(error, request));
  }
}

/** An error as RFC 6749 5.2 has it. */
export function errorBody({ code, description }: OAuthError, { raw }: FastifyRequest): object {
  return { error: code, error_description: description, error_reference: referenceOf(raw) };
}
