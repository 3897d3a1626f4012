import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allowedMethods } from '#service/http/allowed-methods.js';
import { noteError } from '#service/http/note-error.js';
import { toOAuthError } from '#service/http/to-oauth-error.js';
import { referenceOf } from '#service/logging/logging.module.js';
import { RedirectableError } from '#authorization/redirectable.error.js';
import { AuthorizationResponse } from '../authorize/authorization-response.js';
import { rawQuery } from '../authorize/raw-query.js';
import { errorPage } from './error.page.js';
import { PageResponder } from './page.responder.js';

/** Every error's one way out: back to the application where that is safe, else a page. */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  constructor(
    private readonly pages: PageResponder,
    private readonly response: AuthorizationResponse,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = allowedMethods.refine(toOAuthError(thrown), request);
    noteError(request.raw, error);
    if (error instanceof RedirectableError) {
      this.pages.seeOther(reply, this.response.error(error.returnTo, error));
      return;
    }
    reply.headers(error.headers);
    this.pages.page(
      reply,
      error.status,
      errorPage(error, referenceOf(request.raw), retryOf(error.status, request)),
    );
  }
}

/** The page to open again. What a form was sent to may answer no GET: then the app's front page. */
function retryOf(status: number, { server, url }: FastifyRequest): string | null {
  if (status !== 403 && status < 500) return null;
  const [path = ''] = url.split('?', 1);
  if (!server.hasRoute({ method: 'GET', url: path })) return '/auth/';
  const query = rawQuery(url);
  return query === '' ? path : `${path}?${query}`;
}
