import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.token.js';
import { PushedRequestStoreUnavailableError } from './pushed-request-store-unavailable.error.js';
import { ANSWER, OPEN, PUSH, REOPEN } from './pushed-request.scripts.js';

/** The stored parameters, as `writePushedParameters` wrote them, or why the transition was refused. */
export type PushedRequest =
  | { readonly outcome: 'open'; readonly parameters: string }
  | { readonly outcome: 'unknown' | 'other_client' | 'answered' };

export interface NewPushedRequest {
  readonly id: string;
  readonly clientId: string;
  readonly parameters: string;
  /** Seconds to wait for a logged-in browser to open it. */
  readonly lifetime: number;
}

/**
 * An upper bound on stored requests. The client's counter counts a request for as long as it is stored; the other counters
 * count it for its initial lifetime.
 */
export interface PushLimit {
  readonly counter: 'client' | 'address' | 'site';
  /** The client id, or the hashed address or site. */
  readonly key: string;
  readonly max: number;
}

export interface PushRefusal {
  readonly counter: PushLimit['counter'];
  /** Seconds until the counter has room, rounded up. */
  readonly retryAfter: number;
}

/** Seconds a logged-in user has to answer. The `expires_in` that the client got (RFC 9126 2.2) covers the login. */
const ANSWER_LIFETIME = 15 * 60;
/** Seconds for which an answered request is kept, so that a late visitor learns that it was answered. */
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
  private readonly scripts: Record<keyof typeof SCRIPTS, Script>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua });
    this.scripts = redis as unknown as Record<keyof typeof SCRIPTS, Script>;
  }

  /** Stores a request if every counter has room. @returns null when stored, otherwise the counter with the longest wait */
  async push(
    { id, clientId, parameters, lifetime }: NewPushedRequest,
    limits: readonly PushLimit[],
  ): Promise<PushRefusal | null> {
    const keys = [requestKey(id), ...limits.map(({ counter, key }) => counterKey(counter, key))];
    const maxima = limits.map(({ max }) => max);
    const reply = await this.run('parPush', keys, id, clientId, parameters, lifetime * 1000, ...maxima);
    const [full, wait] = reply as [number, number];
    const limit = limits[full - 1];
    return limit ? { counter: limit.counter, retryAfter: Math.ceil(wait / 1000) } : null;
  }

  /**
   * Reads an unanswered request. May be called any number of times.
   *
   * @param loggedIn whether the browser is logged in: the first such open extends the lifetime, others do not
   */
  open(id: string, clientId: string, loggedIn: boolean): Promise<PushedRequest> {
    return this.step('parOpen', id, clientId, loggedIn ? ANSWER_LIFETIME : 0);
  }

  /** Of any number of concurrent calls for one request, exactly one gets `open`. */
  answer(id: string, clientId: string): Promise<PushedRequest> {
    return this.step('parAnswer', id, clientId, ANSWERED_LIFETIME);
  }

  /** Undoes an answer that could not be completed, so that the user can retry. Call only after `answer` returned `open`. */
  async reopen(id: string, clientId: string): Promise<void> {
    await this.run('parReopen', keysOf(id, clientId), id, ANSWER_LIFETIME * 1000);
  }

  private async step(
    script: 'parOpen' | 'parAnswer',
    id: string,
    clientId: string,
    lifetime: number,
  ): Promise<PushedRequest> {
    const reply = await this.run(script, keysOf(id, clientId), id, clientId, lifetime * 1000);
    const [outcome, parameters = ''] = reply as string[];
    return { outcome, parameters } as PushedRequest;
  }

  private async run(
    script: keyof typeof SCRIPTS,
    keys: readonly string[],
    ...args: (string | number)[]
  ): Promise<unknown> {
    try {
      return await this.scripts[script](keys.length, ...keys, ...args);
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

function counterKey(counter: PushLimit['counter'], key: string): string {
  return `{par}:${counter}:${key}`;
}
