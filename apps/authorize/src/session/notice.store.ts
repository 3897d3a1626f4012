import { createHash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.token.js';
import { CATALOGUE } from '../ui/i18n/catalogue.js';
import type { Notice } from './notice.js';

/** Seconds; the page that shows it is asked for at once. */
const KEPT = 60;

/**
 * Notices on their way from a form to the page after it: in Redis under the SHA-256 of the cookie, as sessions are,
 * and shown once. What they tell has happened already, so that Redis not answering costs the notice and nothing else.
 */
@Injectable()
export class NoticeStore {
  private readonly logger = new Logger(NoticeStore.name);

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  async leave(cookie: string, notice: Notice): Promise<void> {
    await this.answered(this.redis.set(keyOf(cookie), JSON.stringify(notice), 'EX', KEPT));
  }

  /** Null when there is none (any more), or one that a newer version of this app has left. */
  async take(cookie: string): Promise<Notice | null> {
    const text = await this.answered(this.redis.getdel(keyOf(cookie)));
    const notice = text ? (JSON.parse(text) as Notice) : null;
    return notice && notice.id in CATALOGUE ? notice : null;
  }

  private async answered<T>(command: Promise<T>): Promise<T | null> {
    try {
      return await command;
    } catch (error) {
      this.logger.warn(`a notice was lost: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }
}

function keyOf(cookie: string): string {
  return `notice:${createHash('sha256').update(cookie).digest('base64url')}`;
}
