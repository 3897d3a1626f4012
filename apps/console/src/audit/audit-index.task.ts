import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditIndexer } from '#audit/operations/index/audit-indexer.js';

/** Milliseconds between two passes. Pages also read events that are not indexed yet. */
const PAUSE_MS = 5_000;
const PRUNE_MS = 60 * 60_000;
const RETRY_MS = 30_000;

@Injectable()
export class AuditIndexTask implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('audit index');
  private readonly end = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly indexer: AuditIndexer) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.end.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.end;
    let prunedAt = -Infinity;
    while (!signal.aborted) {
      let pause = PAUSE_MS;
      try {
        while (!signal.aborted && (await this.indexer.indexNew()));
        if (performance.now() - prunedAt > PRUNE_MS) {
          await this.indexer.prune();
          prunedAt = performance.now();
        }
      } catch (error) {
        this.logger.warn(error);
        pause = RETRY_MS;
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
