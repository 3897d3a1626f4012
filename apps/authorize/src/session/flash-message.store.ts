import { hash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { messageOf } from '#platform/errors.js';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import type { FlashMessage } from '../ui/components.js';
import { MESSAGES } from '../ui/i18n/messages.js';

/** In seconds. The browser requests the next page immediately. */
const LIFETIME = 60;

/** Query parameter of pages that show a message. It contains no text, so that links cannot inject messages. */
export const FLASH_QUERY = 'done';

/** Messages for the page after a form, keyed by a hash of the cookie. A Redis outage loses only the message. */
@Injectable()
export class FlashMessageStore {
  private readonly logger = new Logger(FlashMessageStore.name);

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  async save(cookie: string, message: FlashMessage): Promise<void> {
    await this.optional(this.redis.set(keyOf(cookie), JSON.stringify(message), 'EX', LIFETIME));
  }

  /** @returns null without a message, or if this version of the app does not contain its text */
  async consume(cookie: string, query: string): Promise<FlashMessage | null> {
    if (!new URLSearchParams(query).has(FLASH_QUERY)) return null;
    const text = await this.optional(this.redis.getdel(keyOf(cookie)));
    const message = text ? (JSON.parse(text) as FlashMessage) : null;
    return message && message.id in MESSAGES.en ? message : null;
  }

  private async optional<T>(command: Promise<T>): Promise<T | null> {
    try {
      return await command;
    } catch (error) {
      this.logger.warn(`a flash message was lost: ${messageOf(error)}`);
      return null;
    }
  }
}

function keyOf(cookie: string): string {
  return `flash:${hash('sha256', cookie, 'base64url')}`;
}
