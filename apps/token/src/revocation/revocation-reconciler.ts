import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { RevocationService } from '#grants/revocation.service.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { BackgroundLoop, LoopIntervals } from '#platform/background-loop.js';
import { RedisConnection } from '#platform/redis/redis.connection.js';

/** Exceeds the lag of a Redis replica, and the time for which a process trusts its caches while NATS is unavailable. */
const LOSS_MS = 10 * 60 * 1000;
/** Covers a failover of Redis while no token app was running. */
const BEFORE_START_MS = 24 * 60 * 60 * 1000;

/**
 * Makes Redis and every cache agree with the revocations in PostgreSQL (docs/adr/0011-revocation-outbox.md). Every 5 s,
 * each process applies:
 * - revocations that are not applied yet, because the recording process died, Redis was full or unavailable, or the
 *   commit was late;
 * - revocations that any process has applied since this process's last complete pass, because that process may use
 *   another Redis;
 * - at startup the revocations of the last day, and after Redis or NATS reconnects the revocations of the ten minutes
 *   before that pass, because Redis may have lost writes and caches may have missed broadcasts.
 */
@Injectable()
export class RevocationReconciler implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RevocationReconciler.name);
  /** Database time at which the last complete pass began, in milliseconds. */
  private watermark: number | undefined;
  /** The next pass applies revocations from this many milliseconds before the watermark. */
  private lookback = BEFORE_START_MS;
  private announceAll = false;
  /** Incremented when Redis or NATS may have lost revocations. */
  private losses = 0;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly redis: RedisConnection,
    private readonly nats: NatsConnection,
    private readonly records: GrantRecordStore,
    private readonly revocations: RevocationService,
    intervals: LoopIntervals,
  ) {
    this.loop = new BackgroundLoop(
      () => this.pass(),
      intervals,
      (reason) => this.logger.error(`recorded revocations could not be applied yet: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    this.redis.onReady(() => this.onLoss());
    this.nats.broadcasts.onStale((tag) => {
      if (tag !== null) return;
      this.announceAll = true;
      this.onLoss();
    });
  }

  onApplicationShutdown(): void {
    this.loop.stop();
  }

  private onLoss(): void {
    this.losses++;
    this.lookback = Math.max(this.lookback, LOSS_MS);
    this.loop.run();
  }

  private async pass(): Promise<void> {
    const losses = this.losses;
    const began = await this.records.databaseTime();
    this.watermark ??= began;
    const changed = await this.revocations.reconcile({
      since: this.watermark - this.lookback,
      until: began,
      announceAll: this.announceAll,
      // After a loss, the next pass starts again with the newest revocations.
      isObsolete: () => losses !== this.losses,
    });
    // An unavailable Redis may lose data, so the watermark does not advance.
    await this.redis.check();
    if (losses !== this.losses) return this.pass();
    this.watermark = began;
    this.lookback = 0;
    this.announceAll = false;
    if (changed > 0) this.logger.log(`applied ${changed} revocations that Redis did not have`);
  }
}
