import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allowedMethods } from '../http/allowed-methods.js';
import { noteError } from '../http/note-error.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { referenceOf } from '../logging/log-context.js';

/** Answers every error as RFC 6749 5.2 shapes it, with the reference under which the log says more. */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = allowedMethods.refine(OAuthError.from(thrown), request);
    noteError(request.raw, error);
    void reply
      .status(error.status)
      .headers(error.headers)
      .send({
        error: error.code,
        error_description: error.description,
        error_reference: referenceOf(request.raw),
      });
  }
}
