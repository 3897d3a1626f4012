import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { CSRF_FIELD } from '#ui/browser-cookie.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { Form } from '../form.js';
import { LoginRequiredError } from './login-required.error.js';
import type { Operator } from '../operator.js';
import { ConsoleDraftCookie } from './session.cookie.js';

const RECENT_LOGIN_MS = 10 * 60_000;

const DRAFT_LIFETIME = 15 * 60;

const DRAFT = 'draft';

/**
 * Requires a recent login for dangerous steps. Keeps the submitted form during the login, but only the latest form of
 * each operator, so that forms cannot fill Redis. Only the browser that sent the form can read it, and only on the
 * form's page. Otherwise the thief of an old session could send the operator a link to a form with the thief's values.
 */
@Injectable()
export class RecentLoginsService {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly cookies: ConsoleDraftCookie,
    private readonly configuration: ConsoleConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws LoginRequiredError */
  async require(operator: Operator, page: string, form?: Form): Promise<void> {
    if (this.clock() - operator.authTime <= RECENT_LOGIN_MS) return;
    if (!form) throw new LoginRequiredError(page, 'again');
    // Generates a new cookie, because an attacker may have planted the old one.
    const cookie = this.cookies.generate();
    const draft = new Form([...form].filter(([name]) => name !== CSRF_FIELD));
    const text = encrypt(draft.toString(), this.keyFor(operator, page, cookie));
    await withRedisErrors(this.redis.set(keyOf(operator), text, 'EX', DRAFT_LIFETIME));
    throw new LoginRequiredError(`${page}?${DRAFT}=`, 'again', this.cookies.set(cookie));
  }

  async draftOf(operator: Operator, page: string, query: Form): Promise<Form | null> {
    const { draftCookie: cookie } = operator;
    if (cookie === null || !query.has(DRAFT)) return null;
    const text = await withRedisErrors(this.redis.get(keyOf(operator)));
    const draft = text === null ? null : decrypt(text, this.keyFor(operator, page, cookie));
    return draft === null ? null : new Form(draft);
  }

  private keyFor({ identity }: Operator, page: string, cookie: string): EncryptionKey {
    const { CONSOLE_CLIENT_SECRET: secret } = this.configuration;
    return { secret, purpose: 'draft of the console', record: `${identity.subject} ${page} ${cookie}` };
  }
}

function keyOf({ identity }: Operator): string {
  return `console:draft:${createHash('sha256').update(identity.subject).digest('base64url')}`;
}
