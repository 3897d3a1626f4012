import { AsyncResource } from 'node:async_hooks';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { RedisConnection } from '#platform/redis/redis.connection.js';
import { MONOTONIC_CLOCK, type MonotonicClock } from './monotonic-clock.js';
import { ReplayWindow } from './replay-window.js';
import { RevocationReplay } from './revocation-replay.service.js';

/** Milliseconds until the next pass, and until a pass that failed is tried again. */
const PACE = { every: 5_000, retry: 1_000 };

/**
 * Sees to it that what is revoked in PostgreSQL is revoked in Redis and in every cache, though whoever recorded it died
 * before, or Redis refused it, was away or failed over to a replica that had not heard of it: every 5 s, and at once whenever
 * Redis connects. Whenever NATS reconnects, broadcasts are repeated: the operator may have found nobody to tell.
 */
@Injectable()
export class RevocationKeeper implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RevocationKeeper.name);
  private readonly window: ReplayWindow;
  private announce: 'always' | 'when_applied' = 'when_applied';
  /** Counted up whenever what was carried out may be lost. */
  private losses = 0;
  private timer: NodeJS.Timeout | undefined;
  private busy = false;
  private failing = false;
  private over = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly connection: TokenServiceConnection,
    private readonly replay: RevocationReplay,
    private readonly records: GrantRecordStore,
    @Inject(MONOTONIC_CLOCK) private readonly clock: MonotonicClock,
    @Optional() private readonly pace = PACE,
  ) {
    this.window = new ReplayWindow(clock());
  }

  onApplicationBootstrap(): void {
    // Whose request noticed a loss is no matter: what follows goes on for ever, and belongs to no trace.
    const redisLost = AsyncResource.bind(() => {
      this.window.redisLost(this.clock());
      this.startOver();
    });
    const broadcastsLost = AsyncResource.bind(() => {
      this.window.broadcastsLost(this.clock());
      this.announce = 'always';
      this.startOver();
    });
    this.redis.onReady(redisLost);
    this.connection.onStale((tag) => {
      if (tag === null) broadcastsLost();
    });
    void this.run();
  }

  onApplicationShutdown(): void {
    this.over = true;
    clearTimeout(this.timer);
  }

  private startOver(): void {
    this.losses++;
    this.replay.forget();
    void this.run();
  }

  /** One pass at a time; each sees to the next one. */
  private async run(): Promise<void> {
    if (this.busy || this.over) return;
    this.busy = true;
    clearTimeout(this.timer);
    const wait = await this.pass();
    this.busy = false;
    if (!this.over) this.timer = setTimeout(() => void this.run(), wait).unref();
  }

  /** @returns when to begin the next one, in milliseconds */
  private async pass(): Promise<number> {
    const [began, losses] = [this.clock(), this.losses];
    try {
      // A revocation that is not committed yet may come late, as while it waits for a standby that is away.
      const committed = began - (await this.records.longestWrite());
      const changed = await this.replay.pass(() => this.window.age(this.clock()), this.announce);
      if (losses !== this.losses) return 0;
      this.window.passed(committed, this.clock());
      this.announce = 'when_applied';
      if (changed > 0) this.logger.log(`applied ${changed} revocations that Redis did not know`);
      this.failing = false;
      return this.pace.every;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.failing && !this.over)
        this.logger.error(`recent revocations could not be applied to Redis yet: ${reason}`);
      this.failing = true;
      return this.pace.retry;
    }
  }
}
