import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { ClientSecretStore } from '#clients/client-secret.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { messageOf } from '#platform/errors.js';

const FLUSH_MS = 30_000;
const REMEMBERED = 100_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Records the last use of grants and client secrets in the background. Each process records an id once a day (UTC). */
@Injectable()
export class UsageRecorder implements BeforeApplicationShutdown {
  private readonly timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  private readonly grants: DailyUses;
  private readonly secrets: DailyUses;

  constructor(grants: GrantRecordStore, secrets: ClientSecretStore, @Inject(CLOCK) clock: Clock) {
    this.grants = new DailyUses('grants', clock, (uses) => grants.touch(uses));
    this.secrets = new DailyUses('client secrets', clock, (uses) => secrets.touch(uses));
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

/** The day is a UTC date, YYYY-MM-DD. */
interface DailyUse {
  readonly id: string;
  readonly day: string;
}

class DailyUses {
  private readonly logger = new Logger(DailyUses.name);
  /** Ids recorded on `today`, which is a number of days since 1970. */
  private readonly recorded = new Set<string>();
  private today = 0;
  private waiting = new Map<string, number>();

  /** @param write called again after a failure, with the uses that were not written */
  constructor(
    private readonly subject: string,
    private readonly clock: Clock,
    private readonly write: (uses: readonly DailyUse[]) => Promise<void>,
  ) {}

  record(id: string): void {
    const day = Math.floor(this.clock() / DAY_MS);
    if (day === this.today && this.recorded.has(id)) return;
    // A cleared id may be written again, which changes nothing.
    if (day !== this.today || this.recorded.size >= REMEMBERED) this.recorded.clear();
    this.today = day;
    this.recorded.add(id);
    this.waiting.set(id, day);
  }

  async flush(): Promise<void> {
    const batch = this.waiting;
    if (batch.size === 0) return;
    this.waiting = new Map();
    try {
      await this.write([...batch].map(([id, day]) => ({ id, day: dateOf(day) })));
    } catch (error) {
      this.waiting = new Map([...batch, ...this.waiting]);
      const reason = messageOf(error);
      this.logger.warn(`the last use of ${batch.size} ${this.subject} has not been written yet: ${reason}`);
    }
  }
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
