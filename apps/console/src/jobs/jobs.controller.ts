import { randomBytes } from 'node:crypto';
import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Redirect, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { refusal } from '#administration/administration.error.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { CurrentOperator, type Operator } from '../operator.js';
import { confirmPage } from '../ui/confirm.page.js';
import { type Form, QueryForm } from '../form.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
import { type ActionName, ACTIONS, isAction, JOB_ROLE, JobActions } from './job-actions.js';
import { jobPage, jobsPage, namesOf } from './job.page.js';
import { JobRunner } from './job.runner.js';
import { type Job, JobStore } from './job.store.js';

/** Permits the selection of all entries of a list page. */
const MAX_ITEMS = 200;

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
  async confirm(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    const { action, items } = selectionOf(query);
    const names = await this.actions.names(action, items);
    const { question, effect, button, section } = ACTIONS[action];
    return confirmPage({
      operator,
      section,
      title: question(await this.actions.steps(action, items)),
      ...(names.length > 0 && { subject: namesOf(names) }),
      text: effect,
      path: '/jobs',
      button,
      look: action === 'enable-applications' ? '' : 'danger',
      back: section,
      fields: [
        // The id makes both requests of a double click start the same job.
        ['job', randomBytes(16).toString('base64url')],
        ['action', action],
        ...items.map((item) => ['id', item] as const),
      ],
    });
  }

  @Post()
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  @Redirect()
  async create(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<HttpRedirectResponse> {
    const { action, items } = selectionOf(form);
    const id = form.text('job');
    if (!JOB_ID.test(id)) throw new RefusedRequestError(400, 'the form has no job');
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
    return jobPage(operator, job, refreshes);
  }

  /** Uses the path of the job's page, because a required login returns to this path with GET. */
  @Post(':id')
  @RequireRole(JOB_ROLE)
  @RecentLogin()
  @Redirect()
  async continue(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
  ): Promise<HttpRedirectResponse> {
    const { action } = await this.find(id);
    await this.runner.start(id, action, operator);
    return seeOther(`/jobs/${id}`);
  }

  @Post(':id/stop')
  @RequireRole(JOB_ROLE)
  @Redirect()
  async stop(@Param('id') id: string): Promise<HttpRedirectResponse> {
    await this.jobs.stop(id);
    return seeOther(`/jobs/${id}`);
  }

  private async find(id: string): Promise<Job & { readonly action: ActionName }> {
    const job = JOB_ID.test(id) ? await this.jobs.find(id) : null;
    if (!job || !isAction(job.action)) throw refusal('unknown', 'job_unknown', 'there is no such job');
    return { ...job, action: job.action };
  }
}

function selectionOf(form: Form): { readonly action: ActionName; readonly items: readonly string[] } {
  const [action, items] = [form.text('action'), [...new Set(form.getAll('id'))]];
  if (!isAction(action)) throw new RefusedRequestError(400, 'the action is unknown');
  if (items.length === 0 || items.length > MAX_ITEMS)
    throw new RefusedRequestError(400, t('select 1 to {max} entries in the list first', { max: MAX_ITEMS }));
  return { action, items };
}
