import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { ClientService } from '#clients/operations/client.service.js';
import { UserService } from '#users/operations/user.service.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { ClientHistoryService } from '#audit/operations/explain/client-history.service.js';
import { ExplainService } from '#audit/operations/explain/explain.service.js';
import { labelOf } from '../applications/application.form.js';
import { ConcurrencyLimitInterceptor } from '../concurrency-limit.interceptor.js';
import { problemBox } from '#pages/components.js';
import { type Form, QueryForm } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { CurrentOperator, type Operator } from '../operator.js';
import { utc } from '#pages/format.js';
import { namesOf } from '../audit/event-text.js';
import { choicePage, eventsPage, historyPage, PERIODS, type Question } from './events.page.js';
import { explanationPage } from './explanation.page.js';

const STATUS: Readonly<Record<string, number>> = { invalid: 400, unknown: 404, conflict: 409 };

@Controller('events')
@UseInterceptors(ConcurrencyLimitInterceptor)
export class EventsController {
  constructor(
    private readonly explanations: ExplainService,
    private readonly histories: ClientHistoryService,
    private readonly clients: ClientService,
    private readonly users: UserService,
  ) {}

  @Get()
  async show(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    const [reference, client, since] = [query.text('reference'), query.text('client'), query.text('since')];
    const period = Object.hasOwn(PERIODS, query.text('period')) ? query.text('period') : '23h';
    const question: Question = { reference, client, period, since };
    try {
      if (reference !== '') return await this.explain(operator, question);
      if (client === '') return eventsPage(question);
      const [clientId = client, ...others] = await this.clients.candidates(client);
      if (others.length > 0) return choicePage(question, await this.clients.names([clientId, ...others]));
      const history = await this.histories.read({
        client: clientId,
        since: since === '' ? period : utc(since),
      });
      return historyPage(question, history);
    } catch (error) {
      const status = error instanceof AdministrationError ? STATUS[error.kind] : undefined;
      if (!(error instanceof AdministrationError) || status === undefined) throw error;
      return eventsPage(question, problemBox(describeProblems(error, labelOf)), status);
    }
  }

  private async explain(operator: Operator, question: Question): Promise<Page> {
    const explained = await this.explanations.explainIndexed(question.reference);
    const { clientId, userId } = explained.explanation;
    const shown = {
      ...(clientId !== null && { client_id: clientId }),
      ...(userId !== null && { user_id: userId }),
    };
    const names = await namesOf([shown, ...explained.around], this.clients, this.users);
    return explanationPage(operator, question, { ...explained, names });
  }
}
