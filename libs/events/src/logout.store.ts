import { Injectable } from '@nestjs/common';
import { Any, DataSource } from 'typeorm';
import { EndedSessionEntity } from './event-stream.entity.js';

/**
 * Triggers record the end of all sessions of a user. A single session is only in Redis, so its end is recorded here.
 */
@Injectable()
export class LogoutStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Records a logout token for each client with an ID token of the session. @param session as recorded in grants */
  async sessionEnded(session: string): Promise<void> {
    await this.dataSource.query('SELECT record_logouts($1, NULL)', [session]);
  }

  /** Returns the oldest recorded ends whose codes may still be valid. */
  recorded(limit: number): Promise<EndedSessionEntity[]> {
    return this.dataSource.getRepository(EndedSessionEntity).find({ order: { id: 'ASC' }, take: limit });
  }

  async forget(ids: readonly string[]): Promise<void> {
    await this.dataSource.getRepository(EndedSessionEntity).delete({ id: Any(ids) });
  }
}
