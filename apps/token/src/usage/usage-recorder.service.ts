import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ClientSecretStore } from '#database/client/client-secret.store.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { DailyUses } from './daily-uses.js';

const FLUSH_MS = 30_000;

/**
 * Writes the day of last use of grants and client secrets in the background, in batches, at most once a day per
 * thing and process: no token request waits for PostgreSQL because of it.
 */
@Injectable()
export class UsageRecorder implements BeforeApplicationShutdown {
  private readonly timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  private readonly grants: DailyUses;
  private readonly secrets: DailyUses;

  constructor(grants: GrantRecordStore, secrets: ClientSecretStore) {
    this.grants = new DailyUses('grants', (uses) => grants.touch(uses));
    this.secrets = new DailyUses('client secrets', (uses) => secrets.touch(uses));
  }

  /** Notes that a grant is in use today (UTC). */
  note(grantId: string): void {
    this.grants.note(grantId);
  }

  /** Notes that a client authenticated by a secret today (UTC). */
  noteSecret(secretId: string): void {
    this.secrets.note(secretId);
  }

  /** Writes what is waiting; what could not be written waits for the next time. */
  async flush(): Promise<void> {
    await Promise.all([this.grants.flush(), this.secrets.flush()]);
  }

  /** Before the connections close; what is noted after this is a day's note lost, no more. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }
}
