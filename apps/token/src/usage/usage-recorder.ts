import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { ClientSecretStore } from '#clients/client-secret.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { messageOf } from '#platform/errors.js';

const FLUSH_MS = 30_000;
const REMEMBERED = 100_000;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Records the last use in the background: the day (UTC) of a grant, and the hour of a client secret. Each process
 * writes an id once in this period.
 */
@Injectable()
export class UsageRecorder implements BeforeApplicationShutdown {
  private readonly timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  private readonly grants: PeriodicUses;
  private readonly secrets: PeriodicUses;

  constructor(grants: GrantRecordStore, secrets: ClientSecretStore, @Inject(CLOCK) clock: Clock) {
    this.grants = new PeriodicUses('grants', 24 * HOUR_MS, clock, (uses) =>
      grants.touch(uses.map(({ id, at }) => ({ id, day: at.slice(0, 10) }))),
    );
    this.secrets = new PeriodicUses('client secrets', HOUR_MS, clock, (uses) => secrets.touch(uses));
  }

  recordGrant(grantId: string): void {
    this.grants.record(grantId);
  }

  recordSecret(secretId: string): void {
    this.secrets.record(secretId);
  }

  /** A batch that cannot be written waits for the next flush. */
  async flush(): Promise<void> {
    await Promise.all([this.grants.flush(), this.secrets.flush()]);
  }

  /** Flushes before the connections close. Uses after this flush are not recorded. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }
}

/** `at` is the start of the period, in ISO 8601. */
interface Use {
  readonly id: string;
  readonly at: string;
}

class PeriodicUses {
  private readonly logger = new Logger('UsageRecorder');
  /** Ids recorded in the period with this start. */
  private readonly recorded = new Set<string>();
  private start = 0;
  private waiting = new Map<string, number>();

  /** @param write called again after a failure, with the uses that were not written */
  constructor(
    private readonly subject: string,
    private readonly periodMs: number,
    private readonly clock: Clock,
    private readonly write: (uses: readonly Use[]) => Promise<void>,
  ) {}

  record(id: string): void {
    const now = this.clock();
    const start = now - (now % this.periodMs);
    if (start === this.start && this.recorded.has(id)) return;
    // A cleared id may be written again, which changes nothing.
    if (start !== this.start || this.recorded.size >= REMEMBERED) this.recorded.clear();
    this.start = start;
    this.recorded.add(id);
    this.waiting.set(id, start);
  }

  async flush(): Promise<void> {
    const batch = this.waiting;
    if (batch.size === 0) return;
    this.waiting = new Map();
    try {
      await this.write([...batch].map(([id, start]) => ({ id, at: new Date(start).toISOString() })));
    } catch (error) {
      this.waiting = new Map([...batch, ...this.waiting]);
      const reason = messageOf(error);
      this.logger.warn(`the last use of ${batch.size} ${this.subject} has not been written yet: ${reason}`);
    }
  }
}
