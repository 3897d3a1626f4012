import { Body, Controller, Get, Post } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import {
  describesItself,
  newClientOf,
  NO_PROBLEMS,
  type Problems,
  problemsOf,
  withoutPrivateKeys,
} from './application.form.js';
import { CREATE_STEPS } from './application-fields.js';
import { createdPage, createPage, summaryPage } from './create-application.page.js';

/** The step after the fields shows what will be created. */
const SUMMARY = CREATE_STEPS.length;

@Controller('applications/new')
@RequireRole('admin')
export class CreateApplicationController {
  constructor(
    private readonly clients: ClientService,
    private readonly catalogue: ScopeCatalogue,
  ) {}

  @Get()
  @RecentLogin()
  first(@CurrentOperator() operator: Operator, @SentBeforeLogin() sent: Form | null): Page {
    const form = sent ?? new Form();
    return this.show(operator, form, stepOf(form.text('step')), NO_PROBLEMS);
  }

  @Post()
  @RecentLogin()
  @Creates()
  async next(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<Page> {
    const step = describesItself(form) ? SUMMARY : stepOf(form.text('step'));
    if (form.has('go')) return this.show(operator, form, stepOf(form.text('go')), NO_PROBLEMS);
    const input = newClientOf(form);
    if (step === SUMMARY) return this.create(operator, form, input);
    const problems = await this.clients.check(input).then(() => NO_PROBLEMS, inputProblems);
    const wrong = stepWith(problems) ?? SUMMARY;
    const isLast = step === SUMMARY - 1;
    // Ignores problems of later steps, which the operator has not reached.
    if (problems.size === 0 || (wrong > step && !isLast))
      return this.show(operator, form, step + 1, NO_PROBLEMS);
    return this.show(operator, form, Math.min(wrong, step), problems);
  }

  private async create(operator: Operator, form: Form, input: object): Promise<Page> {
    try {
      const { result, announced } = await this.clients.create(actorOf(operator), input);
      return createdPage(form.text('name') || result.client_id, result, await announced);
    } catch (error) {
      const problems = inputProblems(error);
      return this.show(operator, form, stepWith(problems) ?? SUMMARY - 1, problems);
    }
  }

  private show(operator: Operator, form: Form, step: number, problems: Problems): Page {
    withoutPrivateKeys(form);
    if (step === SUMMARY) return summaryPage({ operator, form });
    return createPage({ operator, form, problems, catalogue: this.catalogue, step });
  }
}

function stepOf(text: string): number {
  return Math.min(Math.max(Math.trunc(Number(text)) || 0, 0), SUMMARY);
}

function inputProblems(error: unknown): Problems {
  if (error instanceof AdministrationError && error.kind === 'invalid') return problemsOf(error);
  throw error;
}

function stepWith(problems: Problems): number | undefined {
  const step = CREATE_STEPS.findIndex(({ fields }) => fields.some((name) => problems.has(name)));
  return step === -1 ? undefined : step;
}
