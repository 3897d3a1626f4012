import { AsyncResource } from 'node:async_hooks';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { RevocationService } from '#grants/revocation.service.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';
import { RedisConnection } from '#platform/redis/redis.connection.js';

/** Milliseconds from one pass to the next, and until a pass that failed is repeated. */
const INTERVALS = { pass: 5_000, retry: 1_000 };
/** Longer than any Redis replica lags behind its master, and than a process trusts a cache while NATS is away. */
const LOSS_MS = 10 * 60 * 1000;
/** Covers a fail-over of Redis while no token app was running. */
const BEFORE_START_MS = 24 * 60 * 60 * 1000;

/**
 * Makes Redis and every cache agree with the revocations in PostgreSQL (docs/adr/0011). Each process does it every 5 s for the
 * Redis that it is connected to, in one pass at a time:
 *
 * - what is not applied yet: the process that recorded it died, Redis was full or away, or the transaction committed late;
 * - what was applied since its last complete pass, by any process: another one may be connected to another Redis;
 * - ten minutes more whenever a Redis begins to serve it, which may have lost its last writes, or NATS reconnects, which may
 *   have lost broadcasts.
 */
@Injectable()
export class RevocationReconciler implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RevocationReconciler.name);
  /** Watermark: the database's time at which the last complete pass began, in milliseconds. */
  private watermark: number | undefined;
  /** How far before the watermark the next pass begins, in milliseconds. */
  private lookback = BEFORE_START_MS;
  private announceAll = false;
  /** Incremented when Redis or NATS may have lost what was applied. */
  private losses = 0;
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;
  private isFailing = false;
  private isShutDown = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly nats: NatsConnection,
    private readonly records: GrantRecordStore,
    private readonly revocations: RevocationService,
    @Optional() private readonly intervals = INTERVALS,
  ) {}

  onApplicationBootstrap(): void {
    // Bound, so that passes do not belong to the trace of the request that noticed the loss.
    this.redis.onReady(AsyncResource.bind(() => this.onLoss()));
    const onReconnect = AsyncResource.bind(() => {
      this.announceAll = true;
      this.onLoss();
    });
    this.nats.onStale((tag) => {
      if (tag === null) onReconnect();
    });
    void this.run();
  }

  onApplicationShutdown(): void {
    this.isShutDown = true;
    clearTimeout(this.timer);
  }

  private onLoss(): void {
    this.losses++;
    this.lookback = Math.max(this.lookback, LOSS_MS);
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.isRunning || this.isShutDown) return;
    this.isRunning = true;
    clearTimeout(this.timer);
    const wait = await this.pass();
    this.isRunning = false;
    if (!this.isShutDown) this.timer = setTimeout(() => void this.run(), wait).unref();
  }

  /** @returns milliseconds until the next pass */
  private async pass(): Promise<number> {
    const losses = this.losses;
    try {
      const began = await this.records.databaseTime();
      this.watermark ??= began;
      const changed = await this.revocations.reconcile({
        since: this.watermark - this.lookback,
        until: began,
        announceAll: this.announceAll,
        // After a loss the next pass begins with the newest again.
        isObsolete: () => losses !== this.losses,
      });
      // A Redis that is away may lose what it has: the watermark waits for it.
      await this.redis.check();
      if (losses !== this.losses) return 0;
      this.watermark = began;
      this.lookback = 0;
      this.announceAll = false;
      if (changed > 0) this.logger.log(`applied ${changed} revocations that Redis did not know`);
      this.isFailing = false;
      return this.intervals.pass;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing && !this.isShutDown)
        this.logger.error(`recorded revocations could not be applied yet: ${reason}`);
      this.isFailing = true;
      return this.intervals.retry;
    }
  }
}
