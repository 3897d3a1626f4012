import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type FailedRequest, failedRequest, statusName } from '#platform/http/failed-request.js';
import { addErrorToLog, referenceOf } from '#platform/logging/request-log.js';
import { TokenRefusedError } from '#introspection/refusals.js';
import { AdministrationError, REFUSAL_STATUS } from '#platform/validation/administration.error.js';
import { describeProblems, nextOf } from '#error-guide/problems/describe-problem.js';
import { memberOf } from '#operations/member-names.js';
import { isApiRequest, sendProblem, tokenFailure, withAllowedMethods } from './api/problem.js';
import { labelOf } from './applications/application.form.js';
import { ConsoleConfiguration } from './console.configuration.js';
import { LoginRequiredError, loginUrl } from '#pages/recent-logins.js';
import type { OperatorRequest } from './operator.js';
import { errorPage } from './ui/error.page.js';
import { PageResponder, seeOther } from '#pages/page.responder.js';
import { pageLink } from './ui/remedy.js';

@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  constructor(
    private readonly pages: PageResponder,
    private readonly configuration: ConsoleConfiguration,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<OperatorRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (thrown instanceof LoginRequiredError) return this.login(thrown, reply);
    const isApi = isApiRequest(request);
    const error = isApi ? withAllowedMethods(thrown, request) : thrown;
    const failure = describedFailure(error, request, isApi);
    const { status, description, detail, cause, headers } = failure;
    const code = cause instanceof TokenRefusedError ? cause.code : statusName(status);
    const logged = { code, status, detail: { channel: isApi ? 'api' : 'page', ...detail }, cause };
    addErrorToLog(request.raw, logged, description ?? '');
    if (status >= 500) this.logger.error(thrown);
    if (isApi) {
      const { check: id = statusName(status) } = detail as { readonly check?: string };
      const { BASE_URL: baseUrl } = this.configuration;
      return sendProblem(request, reply, failure, { thrown: error, id, baseUrl });
    }
    reply.headers(headers);
    const reference = referenceOf(request.raw);
    const [back] = /^\/(applications|requests|users)\/[^/?]+(?=\/)/.exec(request.url) ?? [];
    const { operator = null, account = null } = request;
    const next =
      operator && error instanceof AdministrationError
        ? error.problems.flatMap((problem) => nextOf(problem) ?? [])
        : [];
    const remedies = next.map(({ command }) => operator && pageLink(operator, command));
    const user = operator ? null : account;
    const page = errorPage({ status, description, reference, remedies, back, account: user });
    void reply.send(this.pages.render(request, reply, page));
  }

  private login({ page, reason }: LoginRequiredError, reply: FastifyReply): void {
    const { url, statusCode } = seeOther(loginUrl(page, reason === 'again'));
    void reply.redirect(url, statusCode);
  }
}

function describedFailure(thrown: unknown, request: OperatorRequest, isApi: boolean): FailedRequest {
  if (!(thrown instanceof AdministrationError)) return tokenFailure(thrown) ?? failedRequest(thrown, request);
  const { kind, problems, cause } = thrown;
  const description = describeProblems(thrown, isApi ? memberOf : labelOf).join('; ');
  const detail = { check: problems.map(({ id }) => id).join(' ') };
  // Browsers send no If-Match with a form, so only the API answers 412 (RFC 9110 13.1.1).
  const status = isApi && kind === 'outdated' ? 412 : REFUSAL_STATUS[kind];
  return { status, description, headers: {}, detail, cause };
}
