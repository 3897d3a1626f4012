import { Controller, Get, Inject, Param } from '@nestjs/common';
import { RefusedRequestService } from '#audit/operations/refused/refused-request.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { type Form, QueryForm } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { utc } from '#pages/format.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { activityPage, FILTERS, type RefusedQuery, refusalPage } from './activity.page.js';

/** Numbers of requests, and refused requests with their causes. */
@Controller('applications/:id/activity')
export class ActivityController {
  constructor(
    private readonly refused: RefusedRequestService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @QueryForm() form: Form,
  ): Promise<Page> {
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
      await this.refused.history(client.clientId, 'hour', now),
      await this.refused.history(client.clientId, 'day', now),
    ];
    return activityPage({ ...viewer, client, query, histories, refused });
  }

  @Get(':refusal')
  async explain(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @Param('refusal') refusal: string,
  ): Promise<Page> {
    return refusalPage(viewer, client, await this.refused.find(client, refusal));
  }
}
