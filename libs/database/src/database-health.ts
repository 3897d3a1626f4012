import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pendingMigrationsOf } from './migrate.js';

@Injectable()
export class DatabaseHealth {
  private readonly logger = new Logger('Database');
  private isMigrated = false;
  private reported = '';

  constructor(private readonly dataSource: DataSource) {}

  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }

  /**
   * Rejects while migrations are pending, and caches success. Accepts newer migrations, so that the previous version of
   * the service works during a rollout or after a rollback.
   */
  async migrated(): Promise<void> {
    if (this.isMigrated) return;
    const pending = (await pendingMigrationsOf(this.dataSource)).join(', ');
    this.isMigrated = pending === '';
    if (this.isMigrated) return;
    const problem = `the database is not at this version, run "migrate": it lacks ${pending}`;
    if (pending !== this.reported) this.logger.warn(problem);
    this.reported = pending;
    throw new Error(problem);
  }
}
