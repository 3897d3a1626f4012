import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditIndexer } from '#audit/operations/index/audit-indexer.js';
import { OverviewService } from '#audit/operations/overview.service.js';
import { BackgroundLoop, type LoopIntervals } from '#platform/background-loop.js';

const MINUTE_MS = 60_000;

@Injectable()
export class BackgroundTasks implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('background');
  private readonly loops: readonly BackgroundLoop[];

  constructor(overview: OverviewService, indexer: AuditIndexer) {
    this.loops = [
      // Counting all live grants takes too long for a page.
      this.loop('the usage of today is not counted', () => overview.countUsage(), {
        pass: 10 * MINUTE_MS,
        retry: MINUTE_MS,
      }),
      // Pages also read events that are not indexed yet.
      this.loop(
        'the audit trail is not indexed',
        async () => {
          while (await indexer.indexNew());
        },
        { pass: 5_000, retry: MINUTE_MS / 2 },
      ),
      this.loop('the index of the audit trail is not pruned', () => indexer.prune(), {
        pass: 60 * MINUTE_MS,
        retry: MINUTE_MS / 2,
      }),
    ];
  }

  onApplicationBootstrap(): void {
    for (const loop of this.loops) loop.run();
  }

  onApplicationShutdown(): void {
    for (const loop of this.loops) loop.stop();
  }

  private loop(problem: string, task: () => Promise<void>, intervals: LoopIntervals): BackgroundLoop {
    return new BackgroundLoop(task, intervals, (reason) => this.logger.warn(`${problem}: ${reason}`));
  }
}
