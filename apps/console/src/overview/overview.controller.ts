import { Controller, Get, Inject } from '@nestjs/common';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OverviewService } from '#audit/operations/overview.service.js';
import { HealthCheckService } from '../health/health-check.service.js';
import { JobStore } from '../jobs/job.store.js';
import type { Page } from '#pages/page.responder.js';
import { unlessUnavailable } from '../ui/console-components.js';
import { queueText } from '../requests/request.page.js';
import { overviewPage } from './overview.page.js';

@Controller()
export class OverviewController {
  constructor(
    private readonly overview: OverviewService,
    private readonly health: HealthCheckService,
    private readonly jobs: JobStore,
    private readonly reviews: ReviewService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(): Promise<Page> {
    const [refusals, usage, health, jobs, queue] = await Promise.all([
      this.overview.refusals().catch(unlessUnavailable),
      this.overview.usage(),
      this.health.read(),
      this.jobs.list(),
      this.reviews.queue(),
    ]);
    const requests = queueText(queue.requests, queue.count, this.clock());
    return overviewPage({ refusals, usage, health, jobs, requests });
  }
}
