import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { TokenServiceConnection } from '#introspection/token-service.connection.js';
import { RedisConnection } from '#service/redis/redis.connection.js';

/** Longer than any replica lags behind its master. */
const REPLAYED_MS = 10 * 60 * 1000;
const RETRY_MS = 1_000;

/**
 * Applies the revocations of the last ten minutes again whenever Redis connects: a fail-over to a replica that had
 * not heard of them yet must not bring a revoked grant back. Whenever NATS reconnects, too: the operator may have
 * deleted a client and found nobody to tell.
 */
@Injectable()
export class RevocationKeeper implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(RevocationKeeper.name);
  /** From when on revocations are to be applied again; undefined when all are. */
  #due: Date | undefined;
  #busy = false;
  #over = false;

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

  onApplicationShutdown(): void {
    this.#over = true;
  }

  /** Until it is done: what fails, such as PostgreSQL being away as well, is tried again. Asking twice at once is asking once. */
  private async replay(): Promise<void> {
    this.#due ??= new Date(Date.now() - REPLAYED_MS);
    if (this.#busy) return;
    this.#busy = true;
    while (this.#due && !this.#over) {
      const since: Date = this.#due;
      this.#due = undefined;
      try {
        await this.apply(since);
      } catch (error) {
        this.#due = since;
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.error(`recent revocations could not be applied to Redis yet: ${reason}`);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
    this.#busy = false;
  }

  private async apply(since: Date): Promise<void> {
    const revoked = await this.records.revokedSince(since);
    for (const id of revoked) await this.engine.applyRevocation(id);
    if (revoked.length > 0) this.#logger.log(`applied ${revoked.length} recent revocations to Redis again`);
  }
}
