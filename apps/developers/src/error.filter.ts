import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdministrationError, REFUSAL_STATUS } from '#platform/validation/administration.error.js';
import { PageResponder, seeOther } from '#pages/page.responder.js';
import { LoginRequiredError, loginUrl } from '#pages/recent-logins.js';
import { failedRequest, statusName } from '#platform/http/failed-request.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';
import type { DeveloperRequest } from './developer.js';
import { html } from '#ui/html.js';
import type { MessageId } from './ui/i18n/messages.js';
import { Languages } from './ui/i18n/languages.js';
import { isMessage } from './ui/i18n/translator.js';

const TEXT_OF_CHECK: Readonly<Record<string, MessageId>> = {
  csrf_token_mismatch: 'error.form',
  login_transaction_invalid: 'error.login',
  login_cancelled: 'error.login',
  login_response_invalid: 'error.login',
};

const TITLE_OF_CHECK: Readonly<Record<string, MessageId>> = {
  client_invitation_unknown: 'invitation.invalid',
};

const TEXT_OF_STATUS: Readonly<Record<number, MessageId>> = {
  404: 'error.not_found',
  409: 'error.state',
  429: 'error.later',
  500: 'error.later',
  503: 'error.later',
};

@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  constructor(
    private readonly pages: PageResponder,
    private readonly languages: Languages,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<DeveloperRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error instanceof LoginRequiredError) {
      const { url, statusCode } = seeOther(loginUrl(error.page, error.reason === 'again'));
      return void reply.redirect(url, statusCode);
    }
    const isRefused = error instanceof AdministrationError;
    const failed = isRefused
      ? { status: REFUSAL_STATUS[error.kind], headers: {}, detail: checksOf(error), cause: error.cause }
      : failedRequest(error, request);
    const { status, headers, detail, cause } = failed;
    addErrorToLog(request.raw, { code: statusName(status), status, detail, cause }, '');
    if (status >= 500) this.logger.error(error);
    const { check = '' } = detail as { readonly check?: string };
    const translator = this.languages.translatorFor(request);
    const known = isRefused ? error.problems.filter(({ id }) => isMessage(`problem.${id}`)) : [];
    const general = TEXT_OF_CHECK[check] ?? TEXT_OF_STATUS[status];
    const texts =
      known.length > 0
        ? known.map((problem) => translator.problem(problem))
        : [translator.text(general ?? 'problem.other')];
    const title = TITLE_OF_CHECK[check] ?? `error.${status}`;
    const page = {
      title: translator.text(isMessage(title) ? title : 'error.title'),
      status,
      content: html`
        ${texts.map((text) => html`<p role="alert">${text}</p>`)}
        <p><a class="button" href="/">${translator.text('error.home')}</a></p>
        <p class="quiet">${translator.text('error.reference')} <code>${referenceOf(request.raw)}</code></p>
      `,
    };
    void reply.headers(headers).send(this.pages.render(request, reply, page));
  }
}

const checksOf = ({ problems }: AdministrationError) => ({ check: problems.map(({ id }) => id).join(' ') });
