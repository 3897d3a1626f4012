import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { TokenServiceConnection } from '#introspection/token-service.connection.js';
import { RedisConnection } from '#service/redis/redis.connection.js';

/** Longer than any replica lags behind its master. */
const REPLAYED_MS = 10 * 60 * 1000;

/**
 * Applies the revocations of the last ten minutes again whenever Redis connects: a fail-over to a replica that had
 * not heard of them yet must not bring a revoked grant back. Whenever NATS reconnects, too: the operator may have
 * deleted a client and found nobody to tell.
 */
@Injectable()
export class RevocationKeeper implements OnApplicationBootstrap {
  readonly #logger = new Logger(RevocationKeeper.name);

  constructor(
    private readonly redis: RedisConnection,
    private readonly records: GrantRecordStore,
    private readonly engine: GrantEngine,
    private readonly connection: TokenServiceConnection,
  ) {}

  onApplicationBootstrap(): void {
    this.redis.onReady(() => void this.replay());
    this.connection.onStale((tag) => {
      if (tag === null) void this.replay();
    });
  }

  private async replay(): Promise<void> {
    try {
      const revoked = await this.records.revokedSince(new Date(Date.now() - REPLAYED_MS));
      for (const id of revoked) await this.engine.applyRevocation(id);
      if (revoked.length > 0) this.#logger.log(`applied ${revoked.length} recent revocations to Redis again`);
    } catch (error) {
      this.#logger.error(
        `recent revocations could not be applied to Redis: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
