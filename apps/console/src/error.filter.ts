import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type FailedRequest, failedRequest } from '#platform/http/failed-request.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';
import { AdministrationError, type RefusalKind, withNames } from '#administration/administration.error.js';
import { labelOf } from './applications/application.form.js';
import { LoginRequiredError } from './session/login-required.error.js';
import type { OperatorRequest } from './session/operator.js';
import { errorPage } from './ui/error.page.js';
import { PageResponder, seeOther } from './ui/page.responder.js';

/** Handles every error of a page: leads to the login, or shows an error page. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  constructor(private readonly pages: PageResponder) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<OperatorRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (thrown instanceof LoginRequiredError) return this.login(thrown, reply);
    const { status, description, detail, cause, headers } = describedFailure(thrown, request);
    addErrorToLog(request.raw, {
      status,
      code: String(status),
      description: description ?? '',
      detail,
      cause,
    });
    if (status >= 500) this.logger.error(thrown);
    reply.headers(headers);
    const reference = referenceOf(request.raw);
    const page = errorPage({ status, description, reference });
    void reply.send(this.pages.render(reply, page, request.operator ?? null));
  }

  private login({ page, reason }: LoginRequiredError, reply: FastifyReply): void {
    const query = new URLSearchParams({ page, ...(reason === 'again' && { again: '' }) });
    const { url, statusCode } = seeOther(`/login?${query.toString()}`);
    void reply.redirect(url, statusCode);
  }
}

const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unknown: 404,
  conflict: 409,
  outdated: 409,
  unconfirmed: 409,
  unsafe: 409,
  incomplete: 503,
  unavailable: 503,
};

function describedFailure(thrown: unknown, request: OperatorRequest): FailedRequest {
  if (!(thrown instanceof AdministrationError)) return failedRequest(thrown, request);
  const description = thrown.problems.map(({ message }) => withNames(message, labelOf)).join('; ');
  const detail = { check: thrown.problems.map(({ id }) => id).join(' ') };
  return { status: STATUS[thrown.kind], description, headers: {}, detail, cause: thrown.cause };
}
