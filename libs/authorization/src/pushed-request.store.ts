import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#service/redis/redis-client.js';
import { REDIS } from '#service/redis/redis.token.js';
import { PushedRequestStoreUnavailableError } from './pushed-request-store-unavailable.error.js';
import { ANSWER } from './scripts/answer.script.js';
import { OPEN } from './scripts/open.script.js';
import { PUSH } from './scripts/push.script.js';
import { REOPEN } from './scripts/reopen.script.js';

/** What a step found: the pushed parameters as a query string, or why the step was not taken. */
export type PushedRequest =
  | { readonly outcome: 'open'; readonly parameters: string }
  | { readonly outcome: 'unknown' | 'other_client' | 'answered' };

const SCRIPTS = { parPush: PUSH, parOpen: OPEN, parAnswer: ANSWER, parReopen: REOPEN };

type Script = (...args: (string | number)[]) => Promise<unknown>;

/**
 * Pushed authorization requests in Redis (RFC 9126): `pushed ──open──► opened ──answer──► answered`, one hash per
 * request under the id that `pushedRequestId` makes, one script and one round trip per step. Only the client that
 * pushed a request can name it. Every method throws PushedRequestStoreUnavailableError when Redis does not answer.
 */
@Injectable()
export class PushedRequestStore {
  readonly #scripts: Record<keyof typeof SCRIPTS, Script>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { numberOfKeys: 1, lua });
    this.#scripts = redis as unknown as Record<keyof typeof SCRIPTS, Script>;
  }

  /**
   * @param parameters as a query string
   * @param ttl seconds until it must have been opened
   */
  async push(id: string, clientId: string, parameters: string, ttl: number): Promise<void> {
    await this.#run('parPush', id, clientId, parameters, ttl);
  }

  /**
   * Reads a request that nobody has answered yet; any number of times.
   *
   * @param ttl seconds that it lives on from the first time
   */
  open(id: string, clientId: string, ttl: number): Promise<PushedRequest> {
    return this.#step('parOpen', id, clientId, ttl);
  }

  /** Of any number of calls for one request exactly one is told `open`. */
  answer(id: string, clientId: string): Promise<PushedRequest> {
    return this.#step('parAnswer', id, clientId);
  }

  /** Takes back an answer that could not be carried out. For who was told `open` by `answer` only. */
  async reopen(id: string): Promise<void> {
    await this.#run('parReopen', id);
  }

  async #step(
    script: keyof typeof SCRIPTS,
    id: string,
    ...args: (string | number)[]
  ): Promise<PushedRequest> {
    const [outcome, parameters = ''] = (await this.#run(script, id, ...args)) as string[];
    return { outcome, parameters } as PushedRequest;
  }

  async #run(script: keyof typeof SCRIPTS, id: string, ...args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#scripts[script](`par:${id}`, ...args);
    } catch (cause) {
      throw new PushedRequestStoreUnavailableError(cause);
    }
  }
}
