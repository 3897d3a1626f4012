import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SessionCookie } from '#pages/cookies.js';
import { PagesOptions } from '#pages/pages.options.js';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import type { DeveloperRequest } from '../developer.js';
import type { Flow } from './flow.js';

/** Seconds after the latest step. */
const LIFETIME = 30 * 60;

/**
 * Keeps the flow of a session and an application. Like a session, it is stored under a hash, and its key needs the
 * cookie, because it has tokens of a user.
 */
@Injectable()
export class FlowStore {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly cookies: SessionCookie,
    private readonly options: PagesOptions,
  ) {}

  async read(request: DeveloperRequest, clientId: string): Promise<Flow | null> {
    const text = await withRedisErrors(this.redis.get(this.nameOf(request, clientId)));
    const flow = text === null ? null : decrypt(text, this.keyOf(request, clientId));
    return flow === null ? null : (JSON.parse(flow) as Flow);
  }

  async write(request: DeveloperRequest, clientId: string, flow: Flow): Promise<void> {
    const text = encrypt(JSON.stringify(flow), this.keyOf(request, clientId));
    await withRedisErrors(this.redis.set(this.nameOf(request, clientId), text, 'EX', LIFETIME));
  }

  /** Identifies the session. */
  cookieOf({ headers }: DeveloperRequest): string {
    return this.cookies.read(headers.cookie) ?? '';
  }

  private nameOf(request: DeveloperRequest, clientId: string): string {
    const hash = createHash('sha256').update(`${this.cookieOf(request)} ${clientId}`);
    return `${this.options.app}:flow:${hash.digest('base64url')}`;
  }

  private keyOf(request: DeveloperRequest, clientId: string): EncryptionKey {
    const { app, login } = this.options;
    return {
      secret: `${login.clientSecret} ${this.cookieOf(request)}`,
      purpose: `flow of the ${app}`,
      record: clientId,
    };
  }
}
