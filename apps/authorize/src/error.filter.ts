import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { descriptionOf } from '#error-guide/error-description.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { RedirectableError } from '#oauth/redirectable.error.js';
import { failedRequest, hasRoute } from '#platform/http/failed-request.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { addErrorToLog, addLogContext, referenceOf } from '#platform/logging/request-log.js';
import { rawQuery, withQuery } from './urls.js';
import { AuthorizationResponseService } from './authorize/authorization-response.service.js';
import { KnownClientError } from './authorize/known-client.error.js';
import { ExternalLoginError } from './external-login/external-login.error.js';
import { CookieDiagnosisService } from './session/cookie-diagnosis.service.js';
import { errorKind } from './ui/errors/error-kind.js';
import { errorPage } from './ui/errors/error.page.js';
import { LanguageService } from './ui/i18n/language.service.js';
import { UserPageResponder } from './ui/user-page.responder.js';

/** Redirects an error to the application if the redirect is safe (RFC 6749 4.1.2.1), and otherwise shows a page. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  constructor(
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly responses: AuthorizationResponseService,
    private readonly cookies: CookieDiagnosisService,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    try {
      await this.respond(thrown, request, reply);
    } catch (failure) {
      // Nest does not await this method: a rejection would crash the process.
      this.logger.error(failure);
      reply.raw.destroy();
    }
  }

  private async respond(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const error =
      thrown instanceof OAuthError ? thrown : OAuthError.fromFailure(failedRequest(thrown, request));
    addErrorToLog(request.raw, error, descriptionOf(error.reason));
    if (error instanceof RedirectableError) {
      const { headers, url, raw } = request;
      const response = this.responses.error(error, referenceOf(raw));
      this.responses.send(reply, response, { headers, query: rawQuery(url) });
      return;
    }
    const login = error instanceof ExternalLoginError;
    const query = login ? error.query : rawQuery(request.url);
    const kind = errorKind(error);
    const diagnosis = await this.cookies.diagnose(kind, error, request);
    if (diagnosis) addLogContext(request.raw, { diagnosis: diagnosis.kind, ...diagnosis.facts });
    if (diagnosis?.continuesAt !== undefined) return this.pages.seeOther(reply, diagnosis.continuesAt);
    const page = errorPage({
      translator: this.language.translatorFor({ headers: request.headers, query }),
      error,
      kind,
      reference: referenceOf(request.raw),
      query,
      client: error instanceof KnownClientError ? error.client : null,
      // A retry cannot enable an account.
      next:
        login && kind !== 'login_disabled'
          ? withQuery(ENDPOINTS.login, query)
          : error.status >= 500
            ? this.retryAddress(request, query)
            : null,
      ...diagnosis,
    });
    reply.headers(error.headers);
    this.pages.page(reply, error.status, page);
  }

  private retryAddress({ server, url }: FastifyRequest, query: string): string {
    const [path = ''] = url.split('?', 1);
    return hasRoute(server, 'GET', path) ? withQuery(path, query) : ENDPOINTS.account;
  }
}
