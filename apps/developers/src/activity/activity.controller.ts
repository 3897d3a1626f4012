import { Controller, Get, Inject, Param, Req } from '@nestjs/common';
import { RefusedRequestService } from '#audit/operations/refused/refused-request.service.js';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { AdministrationError } from '#operations/administration.error.js';
import { type Form, QueryForm } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { utc } from '#pages/text.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';
import { activityPage, FILTERS, type RefusedQuery, refusalPage } from './activity.page.js';

/** Numbers of requests, and refused requests with their causes. */
@Controller('applications/:id/activity')
export class ActivityController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly refused: RefusedRequestService,
    private readonly languages: Languages,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @QueryForm() form: Form,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const query: RefusedQuery = form.filled(...FILTERS);
    const { since, until, ...others } = query;
    const now = this.clock();
    const list = this.refused.list(
      client,
      {
        ...others,
        ...(since !== undefined && { since: utc(since) }),
        ...(until !== undefined && { until: utc(until) }),
        ...form.filled('cursor'),
      },
      now,
    );
    const refused = await list.catch((error: unknown) => {
      if (error instanceof AdministrationError && error.kind === 'invalid') return null;
      throw error;
    });
    const histories = [
      await this.refused.history(id, 'hour', now),
      await this.refused.history(id, 'day', now),
    ];
    return activityPage({
      ...this.languages.viewer(developer, request),
      client,
      query,
      histories,
      refused,
    });
  }

  @Get(':refusal')
  async explain(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Param('refusal') refusal: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const explained = await this.refused.find(client, refusal);
    return refusalPage(this.languages.viewer(developer, request), client, explained);
  }
}
