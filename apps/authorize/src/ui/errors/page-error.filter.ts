import { ENDPOINTS } from '#oauth/endpoints.js';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allowedMethods } from '#platform/http/allowed-methods.js';
import { noteError } from '#platform/http/note-error.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { addLogContext, referenceOf } from '#platform/logging/log-context.js';
import { RedirectableError } from '#oauth/authorization/redirectable.error.js';
import { AuthorizationResponse } from '../../authorize/authorization-response.js';
import { rawQuery } from '../../authorize/raw-query.js';
import { CookieDoctor } from '../../session/cookie-doctor.service.js';
import { LanguageService } from '../i18n/language.service.js';
import { PageResponder } from '../page.responder.js';
import { errorKind } from './error-kind.js';
import { errorPage } from './error.page.js';

/** Every error's one way out: back to the application where that is safe, else a page. */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PageErrorFilter.name);

  constructor(
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
    private readonly response: AuthorizationResponse,
    private readonly doctor: CookieDoctor,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    try {
      await this.answer(thrown, request, reply);
    } catch (failure) {
      // Nobody waits for this method: what it threw would end the process, and the browser would wait for ever.
      this.logger.error(failure);
      reply.raw.destroy();
    }
  }

  private async answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const error = allowedMethods.refine(OAuthError.from(thrown), request);
    noteError(request.raw, error);
    if (error instanceof RedirectableError) {
      this.pages.seeOther(reply, this.response.error(error.returnTo, error));
      return;
    }
    const query = rawQuery(request.url);
    const found = errorKind(error);
    const diagnosis = await this.doctor.examine(found, error, request);
    if (diagnosis) addLogContext(request.raw, { diagnosis: diagnosis.kind, ...diagnosis.facts });
    reply.headers(error.headers);
    this.pages.page(
      reply,
      error.status,
      errorPage({
        words: this.language.for({ headers: request.headers, query }),
        error,
        kind: found,
        reference: referenceOf(request.raw),
        query,
        next: error.status >= 500 ? this.again(request, query) : null,
        ...diagnosis,
      }),
    );
  }

  /** The page to open again. What a form was sent to may answer no GET: then the app's front page. */
  private again({ server, url }: FastifyRequest, query: string): string {
    const [path = ''] = url.split('?', 1);
    if (!allowedMethods.answers(server, 'GET', path)) return ENDPOINTS.account;
    return query === '' ? path : `${path}?${query}`;
  }
}
