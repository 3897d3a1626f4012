import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { GrantRecordStore } from '#directory/grant-record.store.js';

const FLUSH_MS = 30_000;
const REMEMBERED = 100_000;

/**
 * Writes the day of last use of grants in the background, in batches, at most once a day per grant and process:
 * no token request waits for PostgreSQL because of it.
 */
@Injectable()
export class UsageRecorder implements BeforeApplicationShutdown {
  readonly #logger = new Logger(UsageRecorder.name);
  readonly #noted = new LRUCache<string, string>({ max: REMEMBERED });
  readonly #timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  #waiting = new Map<string, string>();

  constructor(private readonly records: GrantRecordStore) {}

  /** Notes that a grant is in use today (UTC). */
  note(grantId: string): void {
    const day = new Date().toISOString().slice(0, 10);
    if (this.#noted.get(grantId) === day) return;
    this.#noted.set(grantId, day);
    this.#waiting.set(grantId, day);
  }

  /** Writes what is waiting; what could not be written waits for the next time. */
  async flush(): Promise<void> {
    const batch = this.#waiting;
    if (batch.size === 0) return;
    this.#waiting = new Map();
    try {
      await this.records.touch([...batch].map(([id, day]) => ({ id, day })));
    } catch (error) {
      this.#waiting = new Map([...batch, ...this.#waiting]);
      this.#logger.warn(
        `the last use of ${batch.size} grants was not written yet: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Before the connections close; what is noted after this is a day's note lost, no more. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
