import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import {
  defineScripts,
  type RedisClient,
  type RunScript,
  script,
  withRedisErrors,
} from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { PagesOptions } from './pages.options.js';

/** Seconds for which a request that creates a record can be repeated. */
export const REPEATABLE = 24 * 60 * 60;

const POLL_MS = 50;

/** Milliseconds after which an unfinished request has probably ended with its process. */
const RUNNING_MS = 60_000;

/** KEYS: record. Returns the record of an earlier request, or stores the new record. */
const CLAIM = script(
  ['record', 'ttl'],
  `
local earlier = redis.call('GET', KEYS[1])
if earlier then return earlier end
redis.call('SET', KEYS[1], record, 'EX', ttl)
return false
`,
);

const SCRIPTS = { idempotencyClaim: CLAIM };

export interface IdempotentRequest {
  /** Client or session. Other owners cannot see the response. */
  readonly owner: string;
  readonly key: string;
  /** Values that must be equal in a retry, such as the method, path and body. */
  readonly content: string;
  /** If true, a failed request may be repeated only if it certainly changed nothing. */
  readonly creates: boolean;
  /** Seconds for which a repeated request gets the same response. */
  readonly lifetime: number;
  /** Seconds for which the response is stored, by default `lifetime`. With 0, a repeated request gets 409. */
  readonly lifetimeOf?: (text: string) => Promise<number>;
  /** If false, the request gets the response of an earlier request, but is not stored itself. */
  readonly isStored: boolean;
  /** Maximum time in milliseconds to wait for the first request. */
  readonly waitMs?: number;
}

export interface Answer {
  readonly text: string;
  /** Time of the first request, in milliseconds since the epoch; null if this request was executed. */
  readonly executedAt: number | null;
}

interface Stored {
  readonly startedAt: number;
  /** MAC of the content, because a body may contain a password. */
  readonly content: string;
  /**
   * Encrypted with a key that needs the content of the request and a secret that is not in Redis; absent until the
   * request has finished.
   */
  readonly answer?: string;
}

/** Executes a request once and repeats its response, including secrets (draft-ietf-httpapi-idempotency-key-header). */
@Injectable()
export class IdempotencyService {
  private readonly logger = new Logger(IdempotencyService.name);
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly options: PagesOptions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /**
   * @throws RefusedRequestError 409 if the first request does not finish or its result is unknown, 422 if its content
   * was different
   * @throws DependencyUnavailableError if Redis does not respond; then nothing was executed
   */
  async once(request: IdempotentRequest, execute: () => Promise<string>): Promise<Answer> {
    const { owner, key, creates, lifetime, lifetimeOf = async () => lifetime, isStored } = request;
    const name = `${this.options.app}:idempotency:${this.mac('name', `${owner} ${key}`)}`;
    const own: Stored = { startedAt: this.clock(), content: this.mac('content', request.content) };
    const values = { record: JSON.stringify(own), ttl: lifetime };
    const earlier = isStored
      ? await this.run('idempotencyClaim', [name], values)
      : await withRedisErrors(this.redis.get(name));
    if (typeof earlier === 'string') {
      const record = await this.finished(name, earlier, request);
      if (record === null) return this.once(request, execute);
      return { text: this.repeated(request, record, own), executedAt: record.startedAt };
    }
    if (!isStored) return { text: await execute(), executedAt: null };
    try {
      const answer = await execute();
      const finished: Stored = { ...own, answer: encrypt(answer, this.encryptionKey(request)) };
      // The change was made. If storing the record fails, the response is still sent, and a retry gets 409.
      await this.store(name, finished, await lifetimeOf(answer)).catch((error: unknown) =>
        this.logger.error(error),
      );
      return { text: answer, executedAt: null };
    } catch (error) {
      const mayRepeat =
        !creates || error instanceof RefusedRequestError || this.options.changedNothing(error);
      if (mayRepeat) await this.redis.del(name).catch((failure: unknown) => this.logger.error(failure));
      throw error;
    }
  }

  private async store(name: string, finished: Stored, lifetime: number): Promise<void> {
    if (lifetime > 0)
      await withRedisErrors(this.redis.set(name, JSON.stringify(finished), 'EX', lifetime, 'XX'));
  }

  /** Waits for the first request. @returns null if it failed; its unfinished record after `waitMs` */
  private async finished(
    name: string,
    record: string,
    { waitMs = 0 }: IdempotentRequest,
  ): Promise<Stored | null> {
    let stored = JSON.parse(record) as Stored;
    for (const end = this.clock() + waitMs; stored.answer === undefined && this.clock() < end;) {
      await sleep(POLL_MS);
      const text = await withRedisErrors(this.redis.get(name));
      if (text === null) return null;
      stored = JSON.parse(text) as Stored;
    }
    return stored;
  }

  private repeated(request: IdempotentRequest, { startedAt, content, answer }: Stored, own: Stored): string {
    if (content !== own.content)
      throw new RefusedRequestError(422, 'this key or form was used for another request: use a new one', {
        detail: { check: 'idempotency_key_reused' },
      });
    const text = answer === undefined ? null : decrypt(answer, this.encryptionKey(request));
    if (text !== null) return text;
    if (answer === undefined && own.startedAt - startedAt < RUNNING_MS)
      throw new RefusedRequestError(409, 'the first such request has not finished: retry in a moment', {
        headers: { 'Retry-After': '1' },
        detail: { check: 'idempotent_request_running' },
      });
    throw new RefusedRequestError(
      409,
      'the result of the first such request is unknown: read the list to see if it made the change, before you send a new one',
      { detail: { check: 'idempotent_result_unknown' } },
    );
  }

  private encryptionKey({ owner, key, content }: IdempotentRequest): EncryptionKey {
    const { app, login } = this.options;
    const secret = `${login.clientSecret} ${content}`;
    return { secret, purpose: `idempotency of the ${app}`, record: `${owner} ${key}` };
  }

  private mac(purpose: string, text: string): string {
    const secret = this.options.login.clientSecret;
    return createHmac('sha256', secret).update(`idempotency ${purpose}:${text}`).digest('base64url');
  }
}
