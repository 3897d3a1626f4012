import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { UnredeemedGrantsService } from '#grants/unredeemed-grants.service.js';
import { BackgroundLoop } from '#platform/background-loop.js';

const INTERVALS = { pass: 30_000, retry: 5_000 };

@Injectable()
export class UnredeemedGrantsLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(UnredeemedGrantsLoop.name);
  private readonly loop: BackgroundLoop;

  constructor(grants: UnredeemedGrantsService) {
    this.loop = new BackgroundLoop(
      () => grants.settle(),
      INTERVALS,
      (reason) => this.logger.warn(`grants without a redeemed code are still listed as live: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.run();
  }

  onApplicationShutdown(): void {
    this.loop.stop();
  }
}
