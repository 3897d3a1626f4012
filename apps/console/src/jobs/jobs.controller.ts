import { randomBytes } from 'node:crypto';
import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { CurrentOperator, type Operator } from '../operator.js';
import { type Form, QueryForm } from '#pages/form.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { confirmPage, type ConfirmView, unconfirmedPage } from '../ui/confirm.page.js';
import { confirmJobView, jobPage, jobsPage, SHOWN_NAMES, unusableSelectionPage } from './job.page.js';
import { type ActionName, isAction, JOB_ROLE, JobActions } from './job-actions.js';
import { JobRunner } from './job.runner.js';
import { type Job, JobStore, MAX_FAILURES } from './job.store.js';
import { type Selection, selectionOf } from './selection.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    job_unknown: null;
  }
}

const REFRESH = 3;

const JOB_ID = /^[\w-]{22}$/;

@Controller('jobs')
export class JobsController {
  constructor(
    private readonly jobs: JobStore,
    private readonly actions: JobActions,
    private readonly runner: JobRunner,
  ) {}

  @Get()
  async list(): Promise<Page> {
    return jobsPage(await this.jobs.list());
  }

  @Get('new')
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  async confirm(
    @CurrentOperator() operator: Operator,
    @QueryForm() query: Form,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    return this.ask(operator, await this.selectionOf(sent ?? query));
  }

  /** Receives the entries that were checked in a list, because they may be too many for a URL. */
  @Post('new')
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  async select(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<Page> {
    return this.ask(operator, await this.selectionOf(form));
  }

  /** Starts the job only with as many entries as the confirmation showed. Otherwise shows the confirmation again. */
  @Post()
  @SentFrom('/jobs/new')
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  async create(
    @CurrentOperator() operator: Operator,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const id = form.text('job');
    if (!JOB_ID.test(id)) throw new RefusedRequestError(400, 'the form has no job');
    if (await this.jobs.find(id)) return seeOther(`/jobs/${id}`);
    const selection = await this.selectionOf(form);
    const { action, items, problem } = selection;
    if (problem !== null) return unusableSelectionPage(selection, problem);
    const unconfirmed = unconfirmedPage(await this.confirmation(operator, selection, id), form);
    if (unconfirmed) return unconfirmed;
    const total = await this.actions.steps(action, items);
    const job = { id, action, operator: operator.name, items, total };
    if (await this.jobs.create(job)) await this.runner.start(id, action, operator);
    return seeOther(`/jobs/${id}`);
  }

  /** The page reloads itself while the job runs, except with `refresh=off` (WCAG 2.2, 2.2.2). */
  @Get(':id')
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @QueryForm() query: Form,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const job = await this.find(id);
    const refreshes = job.state === 'running' && query.text('refresh') !== 'off';
    if (refreshes) reply.header('Refresh', String(REFRESH));
    const names = await this.actions.names(
      job.action,
      job.failures.map(({ item }) => item),
    );
    return jobPage(operator, job, names, refreshes);
  }

  /** Uses the path of the job's page, because a required login returns to this path with GET. */
  @Post(':id')
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  async continue(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
  ): Promise<HttpRedirectResponse> {
    const { action } = await this.find(id);
    await this.runner.start(id, action, operator);
    return seeOther(`/jobs/${id}`);
  }

  @Post(':id/stop')
  @SentFrom('.')
  @RequireRole(JOB_ROLE)
  async stop(@Param('id') id: string): Promise<HttpRedirectResponse> {
    await this.jobs.stop(id);
    return seeOther(`/jobs/${id}`);
  }

  private async selectionOf(form: Form): Promise<Selection> {
    const failed = form.has('retry') ? await this.find(form.text('retry'), MAX_FAILURES) : null;
    return selectionOf(form, this.actions, failed);
  }

  private async ask(operator: Operator, selection: Selection): Promise<Page> {
    if (selection.problem !== null) return unusableSelectionPage(selection, selection.problem);
    // The id makes both requests of a double click start the same job.
    return confirmPage(await this.confirmation(operator, selection, randomBytes(16).toString('base64url')));
  }

  private async confirmation(operator: Operator, selection: Selection, job: string): Promise<ConfirmView> {
    const { action, items } = selection;
    const count = await this.actions.steps(action, items);
    const grants = await this.actions.affectedGrants(action, items);
    const names = await this.actions.names(action, items.slice(0, SHOWN_NAMES));
    return confirmJobView(operator, selection, { job, count, grants, names });
  }

  private async find(id: string, failures?: number): Promise<Job & { readonly action: ActionName }> {
    const job = JOB_ID.test(id) ? await this.jobs.find(id, failures) : null;
    if (!job || !isAction(job.action)) throw refused('unknown', problem('job_unknown', []));
    return { ...job, action: job.action };
  }
}
