import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { defineScripts, type RunScript } from '#platform/redis/redis-commands.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** The stored parameters, as `writePushedParameters` wrote them, or why the transition was refused. */
export type PushedRequest =
  | { readonly outcome: 'open'; readonly parameters: string }
  | { readonly outcome: 'unknown' | 'other_client' | 'answered' };

export interface NewPushedRequest {
  readonly id: string;
  readonly clientId: string;
  readonly parameters: string;
  /** Seconds to wait for a browser to open it: the `expires_in` that the client got (RFC 9126 2.2). */
  readonly lifetime: number;
}

/**
 * An upper bound on stored requests. The client's counter counts a request for as long as it is stored; the other counters
 * count it for its initial lifetime and `LOGIN_LIFETIME`.
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

/** Seconds that the first opening adds for the login. FAPI 2.0 5.3.2.2 allows no `expires_in` that would be enough for one. */
const LOGIN_LIFETIME = 5 * 60;
/** Seconds a logged-in user has to answer. */
const ANSWER_LIFETIME = 15 * 60;
/** Seconds for which an answered request is kept, so that a late visitor learns that it was answered. */
const ANSWERED_LIFETIME = 60;

/**
 * State transitions of a pushed request. A push checks its counters, counts and stores in one script. All keys share the hash
 * tag `{par}`, because a script may touch keys of only one Redis Cluster slot.
 *
 * A counter is a sorted set of request ids, scored by the time they stop counting (Redis' clock). Expired entries drop out
 * without a clean-up job, so a crashed client or an expired request never holds a slot.
 */
const COUNT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function count(counter, id, ttl)
  redis.call('ZADD', counter, now + ttl, id)
  if redis.call('PTTL', counter) < ttl then redis.call('PEXPIRE', counter, ttl) end
end
`;

/**
 * KEYS request client-counter counter… · ARGV id client parameters ttl(ms) login(ms), then one limit per counter. Nothing ──►
 * pushed, if every counter is below its limit; otherwise nothing changes. A counter of addresses cannot follow the request when
 * it is opened, and counts it for as long as it can live without a login.
 *
 * @returns `{0, 0}`, or the 1-based index of the full counter and the milliseconds until it has room
 */
const PUSH = `${COUNT}
local ttl = tonumber(ARGV[4])
local full, wait = 0, 0
for i = 2, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  local excess = redis.call('ZCARD', KEYS[i]) - ARGV[4 + i]
  if excess >= 0 then
    local leaving = redis.call('ZRANGE', KEYS[i], excess, excess, 'WITHSCORES')
    if leaving[2] - now > wait then full, wait = i - 1, leaving[2] - now end
  end
end
if full > 0 then return {full, wait} end
for i = 2, #KEYS do count(KEYS[i], ARGV[1], i == 2 and ttl or ttl + ARGV[5]) end
redis.call('HSET', KEYS[1], 'status', 'pushed', 'client', ARGV[2], 'parameters', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ttl)
return {0, 0}
`;

/** KEYS request client-counter · ARGV id. Sets a new TTL on the request and on its entry in the client's counter. */
const LIVE = `${COUNT}
local function live(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  count(KEYS[2], ARGV[1], ttl)
end
`;

/** ARGV[2] client. Returns early, without a change, if the request is missing, belongs to another client or is answered. */
const FIND = `
local request = redis.call('HMGET', KEYS[1], 'status', 'client', 'parameters')
local status = request[1]
if not status then return {'unknown'} end
if request[2] ~= ARGV[2] then return {'other_client'} end
if status == 'answered' then return {'answered'} end
`;

/**
 * KEYS request client-counter · ARGV id client ttl(ms). pushed ──► visited: the first opening extends the TTL for the login, once, so
 * that reloads cannot keep a request alive.
 */
const VISIT = `${LIVE}${FIND}
if status == 'pushed' then
  redis.call('HSET', KEYS[1], 'status', 'visited')
  live(redis.call('PTTL', KEYS[1]) + ARGV[3])
end
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id client ttl(ms). pushed or visited ──► opened with a new TTL, once. */
const OPEN = `${LIVE}${FIND}
if status ~= 'opened' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(tonumber(ARGV[3]))
end
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id client ttl(ms). Any ──► answered, kept for at most `ttl`. */
const ANSWER = `${LIVE}${FIND}
redis.call('HSET', KEYS[1], 'status', 'answered')
live(math.min(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])))
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id ttl(ms). answered ──► opened. Does not recreate an expired request. */
const REOPEN = `${LIVE}
if redis.call('HGET', KEYS[1], 'status') == 'answered' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(tonumber(ARGV[2]))
end
`;

const SCRIPTS = { parPush: PUSH, parVisit: VISIT, parOpen: OPEN, parAnswer: ANSWER, parReopen: REOPEN };

/**
 * Pushed authorization requests in Redis (RFC 9126): `pushed ──► visited ──login──► opened ──► answered`, one hash per
 * request under the id that `pushedRequestId` makes, one script and one round trip per step. Only the client that
 * pushed a request can name it. Every method throws DependencyUnavailableError when Redis does not answer.
 */
@Injectable()
export class PushedRequestStore {
  private readonly run: RunScript<keyof typeof SCRIPTS>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** Stores a request if every counter has room. @returns null when stored, otherwise the counter with the longest wait */
  async push(
    { id, clientId, parameters, lifetime }: NewPushedRequest,
    limits: readonly PushLimit[],
  ): Promise<PushRefusal | null> {
    const keys = [requestKey(id), ...limits.map(({ counter, key }) => counterKey(counter, key))];
    const maxima = limits.map(({ max }) => max);
    const [ttl, login] = [lifetime * 1000, LOGIN_LIFETIME * 1000];
    const reply = await this.run('parPush', keys, id, clientId, parameters, ttl, login, ...maxima);
    const [full, wait] = reply as [number, number];
    const limit = limits[full - 1];
    return limit ? { counter: limit.counter, retryAfter: Math.ceil(wait / 1000) } : null;
  }

  /**
   * Reads an unanswered request. May be called any number of times.
   *
   * @param loggedIn whether the browser is logged in: the first open, and the first one after a login, extend the lifetime
   */
  open(id: string, clientId: string, loggedIn: boolean): Promise<PushedRequest> {
    return loggedIn
      ? this.step('parOpen', id, clientId, ANSWER_LIFETIME)
      : this.step('parVisit', id, clientId, LOGIN_LIFETIME);
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
    script: 'parVisit' | 'parOpen' | 'parAnswer',
    id: string,
    clientId: string,
    lifetime: number,
  ): Promise<PushedRequest> {
    const reply = await this.run(script, keysOf(id, clientId), id, clientId, lifetime * 1000);
    const [outcome, parameters = ''] = reply as string[];
    return { outcome, parameters } as PushedRequest;
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
