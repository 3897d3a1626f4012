import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { CSRF_FIELD } from '#ui/browser-cookie.js';
import { CLOCK, type Clock, ConsoleConfiguration } from '../console.configuration.js';
import { Form } from '../ui/form.js';
import { LoginRequiredError } from './login-required.error.js';
import type { Operator } from './operator.js';

/** Milliseconds for which a login suffices for a dangerous step. */
const RECENT_LOGIN_MS = 10 * 60_000;

/** Seconds for which the form of an operator who logs in again is kept. */
const DRAFT_LIFETIME = 15 * 60;

const DRAFT = 'draft';

/** Requires a recent login for dangerous steps. Only the operator who sent a form can read it again. */
@Injectable()
export class RecentLogins {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly configuration: ConsoleConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param page to which the login leads
   * @param form is kept for this page, see `draftOf`
   * @throws LoginRequiredError
   */
  async require(operator: Operator, page: string, form?: Form): Promise<void> {
    if (this.clock() - operator.authTime <= RECENT_LOGIN_MS) return;
    if (!form) throw new LoginRequiredError(page, 'again');
    const id = randomBytes(16).toString('base64url');
    const draft = new Form([...form].filter(([name]) => name !== CSRF_FIELD));
    const text = encrypt(draft.toString(), this.keyFor(operator, id));
    await withRedisErrors(this.redis.set(keyOf(id), text, 'EX', DRAFT_LIFETIME));
    throw new LoginRequiredError(`${page}?${DRAFT}=${id}`, 'again');
  }

  /** Returns the form that waited for a login. @param query of the page */
  async draftOf(operator: Operator, query: Form): Promise<Form | null> {
    const id = query.text(DRAFT);
    const text = id === '' ? null : await withRedisErrors(this.redis.get(keyOf(id)));
    const draft = text === null ? null : decrypt(text, this.keyFor(operator, id));
    return draft === null ? null : new Form(draft);
  }

  private keyFor({ identity }: Operator, id: string): EncryptionKey {
    const { CONSOLE_CLIENT_SECRET: secret } = this.configuration;
    return { secret, purpose: 'draft of the console', record: `${identity.subject} ${id}` };
  }
}

const keyOf = (id: string): string => `console:draft:${id}`;
