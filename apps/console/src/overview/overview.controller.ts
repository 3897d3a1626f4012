import { Controller, Get } from '@nestjs/common';
import { OverviewService } from '#audit/operations/overview.service.js';
import { HealthCheckService } from '../health/health-check.service.js';
import { JobStore } from '../jobs/job.store.js';
import type { Page } from '#pages/page.responder.js';
import { unlessUnavailable } from '../ui/console-components.js';
import { overviewPage } from './overview.page.js';

@Controller()
export class OverviewController {
  constructor(
    private readonly overview: OverviewService,
    private readonly health: HealthCheckService,
    private readonly jobs: JobStore,
  ) {}

  @Get()
  async show(): Promise<Page> {
    const [refusals, usage, health, jobs] = await Promise.all([
      this.overview.refusals().catch(unlessUnavailable),
      this.overview.usage(),
      this.health.read(),
      this.jobs.list(),
    ]);
    return overviewPage({ refusals, usage, health, jobs });
  }
}
