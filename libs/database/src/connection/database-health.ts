import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pendingOf } from './migrate.js';

/** Whether the database can serve, for readiness probes. */
@Injectable()
export class DatabaseHealth {
  private readonly logger = new Logger('Database');
  private isMigrated = false;
  private told = '';

  constructor(private readonly dataSource: DataSource) {}

  /** One round trip. Rejects with the driver's error when the database does not answer in time. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }

  /**
   * Rejects while the database lacks a migration of this version, which somebody else may still apply. Asked of the
   * database until it was so once: migrations are not taken back while a process of theirs runs. One that is newer
   * than this version lacks nothing, as when the version before serves on or is rolled back to.
   */
  async migrated(): Promise<void> {
    if (this.isMigrated) return;
    const pending = (await pendingOf(this.dataSource)).join(', ');
    this.isMigrated = pending === '';
    if (this.isMigrated) return;
    const problem = `the database is not at this version, run "migrate": it lacks ${pending}`;
    if (pending !== this.told) this.logger.warn(problem);
    this.told = pending;
    throw new Error(problem);
  }
}
