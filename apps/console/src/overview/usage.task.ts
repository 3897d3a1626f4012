import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { OverviewService } from '#audit/operations/overview.service.js';
import { BackgroundLoop } from '#platform/background-loop.js';

const INTERVALS = { pass: 10 * 60_000, retry: 60_000 };

/** Counts in the background, because counting all live grants takes too long for a page. */
@Injectable()
export class UsageTask implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('usage');
  private readonly loop: BackgroundLoop;

  constructor(overview: OverviewService) {
    this.loop = new BackgroundLoop(
      () => overview.countUsage(),
      INTERVALS,
      (reason) => this.logger.warn(`the usage of today is not counted: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.run();
  }

  onApplicationShutdown(): void {
    this.loop.stop();
  }
}
