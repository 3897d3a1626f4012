import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { OverviewService } from '#administration/overview/overview.service.js';

const PAUSE_MS = 10 * 60_000;

/** Counts in the background, because counting all live grants takes too long for a page. */
@Injectable()
export class UsageTask implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('usage');
  private readonly end = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly overview: OverviewService) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.end.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.end;
    while (!signal.aborted) {
      await this.overview.countUsage().catch((error: unknown) => this.logger.warn(error));
      await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
