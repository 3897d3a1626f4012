import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#service/redis/redis-client.js';
import { REDIS } from '#service/redis/redis.token.js';
import { PushedRequestStoreUnavailableError } from './pushed-request-store-unavailable.error.js';
import { ANSWER, OPEN, PUSH, REOPEN } from './pushed-request.scripts.js';

/** What a step found: the parameters as `pushedParameters` wrote them, or why the step was not taken. */
export type PushedRequest =
  | { readonly outcome: 'open'; readonly parameters: string }
  | { readonly outcome: 'unknown' | 'other_client' | 'answered' };

export interface NewPushedRequest {
  readonly id: string;
  readonly clientId: string;
  readonly parameters: string;
  /** Seconds that it waits for a browser that is logged in. */
  readonly lifetime: number;
}

/**
 * The most requests that may count at one counter. At its client's a request counts for as long as it is stored, at the
 * others for the lifetime it is pushed with.
 */
export interface PushLimit {
  readonly counter: 'client' | 'address' | 'site';
  /** Whose counter it is. */
  readonly of: string;
  readonly most: number;
}

export interface PushRefusal {
  readonly counter: PushLimit['counter'];
  /** Until it takes one more, rounded up. */
  readonly seconds: number;
}

/** Seconds that a user has to answer once logged in. The lifetime that the client was told (RFC 9126 2.2) is for the login. */
const ANSWER_LIFETIME = 15 * 60;
/** Seconds in which whoever comes late is told that a request was answered. */
const ANSWERED_LIFETIME = 60;

const SCRIPTS = { parPush: PUSH, parOpen: OPEN, parAnswer: ANSWER, parReopen: REOPEN };

type Script = (keys: number, ...args: (string | number)[]) => Promise<unknown>;

/**
 * Pushed authorization requests in Redis (RFC 9126): `pushed ──open──► opened ──answer──► answered`, one hash per
 * request under the id that `pushedRequestId` makes, one script and one round trip per step. Only the client that
 * pushed a request can name it. Every method throws PushedRequestStoreUnavailableError when Redis does not answer.
 */
@Injectable()
export class PushedRequestStore {
  readonly #scripts: Record<keyof typeof SCRIPTS, Script>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua });
    this.#scripts = redis as unknown as Record<keyof typeof SCRIPTS, Script>;
  }

  /** Stores a request if every counter takes one more. @returns null then, else the counter that has to be waited for longest */
  async push(
    { id, clientId, parameters, lifetime }: NewPushedRequest,
    limits: readonly PushLimit[],
  ): Promise<PushRefusal | null> {
    const keys = [requestKey(id), ...limits.map(({ counter, of }) => counterKey(counter, of))];
    const most = limits.map((limit) => limit.most);
    const reply = await this.#run('parPush', keys, id, clientId, parameters, lifetime * 1000, ...most);
    const [full, wait] = reply as [number, number];
    const limit = limits[full - 1];
    return limit ? { counter: limit.counter, seconds: Math.ceil(wait / 1000) } : null;
  }

  /**
   * Reads a request that nobody has answered yet; any number of times.
   *
   * @param loggedIn whether the browser is: the first one that is gets time to answer. Anybody else extends nothing
   */
  open(id: string, clientId: string, loggedIn: boolean): Promise<PushedRequest> {
    return this.#step('parOpen', id, clientId, loggedIn ? ANSWER_LIFETIME : 0);
  }

  /** Of any number of calls for one request exactly one is told `open`. */
  answer(id: string, clientId: string): Promise<PushedRequest> {
    return this.#step('parAnswer', id, clientId, ANSWERED_LIFETIME);
  }

  /** Takes back an answer that could not be carried out, so that it can be repeated. For who was told `open` by `answer` only. */
  async reopen(id: string, clientId: string): Promise<void> {
    await this.#run('parReopen', keysOf(id, clientId), id, ANSWER_LIFETIME * 1000);
  }

  async #step(
    script: 'parOpen' | 'parAnswer',
    id: string,
    clientId: string,
    lifetime: number,
  ): Promise<PushedRequest> {
    const reply = await this.#run(script, keysOf(id, clientId), id, clientId, lifetime * 1000);
    const [outcome, parameters = ''] = reply as string[];
    return { outcome, parameters } as PushedRequest;
  }

  async #run(
    script: keyof typeof SCRIPTS,
    keys: readonly string[],
    ...args: (string | number)[]
  ): Promise<unknown> {
    try {
      return await this.#scripts[script](keys.length, ...keys, ...args);
    } catch (cause) {
      throw new PushedRequestStoreUnavailableError(cause);
    }
  }
}

function keysOf(id: string, clientId: string): string[] {
  return [requestKey(id), counterKey('client', clientId)];
}

function requestKey(id: string): string {
  return `{par}:request:${id}`;
}

function counterKey(counter: PushLimit['counter'], of: string): string {
  return `{par}:${counter}:${of}`;
}
