import { hash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { messageOf } from '#platform/errors.js';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** Maximum duration of a log-out at the login provider in seconds. The provider may show a page. */
const LIFETIME = 10 * 60;

/**
 * Stores redirect URIs during a log-out at the provider, keyed by a hash of the cookie. A Redis outage loses only these
 * URIs.
 */
@Injectable()
export class LogoutReturnStore {
  private readonly logger = new Logger(LogoutReturnStore.name);

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {}

  async save(cookie: string, location: string): Promise<void> {
    await this.optional(this.redis.set(keyOf(cookie), location, 'EX', LIFETIME));
  }

  async consume(cookie: string | null): Promise<string | null> {
    return cookie === null ? null : this.optional(this.redis.getdel(keyOf(cookie)));
  }

  private async optional<T>(command: Promise<T>): Promise<T | null> {
    try {
      return await command;
    } catch (error) {
      this.logger.warn(`the redirect after a log-out was lost: ${messageOf(error)}`);
      return null;
    }
  }
}

function keyOf(cookie: string): string {
  return `logout-return:${hash('sha256', cookie, 'base64url')}`;
}
