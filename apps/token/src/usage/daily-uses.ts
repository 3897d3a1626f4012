import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const REMEMBERED = 100_000;

/** A day of use; `day` is a UTC date, YYYY-MM-DD. */
export interface DailyUse {
  readonly id: string;
  readonly day: string;
}

/** Collects days of use, each of a thing once, until they are written by one statement. */
export class DailyUses {
  private readonly logger = new Logger(DailyUses.name);
  private readonly noted = new LRUCache<string, string>({ max: REMEMBERED });
  private waiting = new Map<string, string>();

  /**
   * @param things what is in use, in words for the log
   * @param write writes a batch; it may get the same use more than once
   */
  constructor(
    private readonly things: string,
    private readonly write: (uses: readonly DailyUse[]) => Promise<void>,
  ) {}

  /** Notes that a thing is in use today (UTC). */
  note(id: string): void {
    const day = new Date().toISOString().slice(0, 10);
    if (this.noted.get(id) === day) return;
    this.noted.set(id, day);
    this.waiting.set(id, day);
  }

  /** Writes what is waiting; what could not be written waits for the next time. */
  async flush(): Promise<void> {
    const batch = this.waiting;
    if (batch.size === 0) return;
    this.waiting = new Map();
    try {
      await this.write([...batch].map(([id, day]) => ({ id, day })));
    } catch (error) {
      this.waiting = new Map([...batch, ...this.waiting]);
      this.logger.warn(
        `the last use of ${batch.size} ${this.things} was not written yet: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
