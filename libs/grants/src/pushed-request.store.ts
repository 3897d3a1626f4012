import { Inject, Injectable } from '@nestjs/common';
import { defineScripts, type RedisClient, type RunScript, script } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { COUNTERS } from './counters.js';

export type PushedRequest =
  | { readonly outcome: 'open'; readonly parameters: string }
  | { readonly outcome: 'unknown' | 'other_client' | 'answered' };

export interface NewPushedRequest {
  readonly id: string;
  readonly clientId: string;
  readonly parameters: string;
  /** `expires_in` of the response (RFC 9126 2.2), in seconds. */
  readonly lifetime: number;
}

/**
 * Upper bound on stored requests. The counters of addresses and sites count a request only for its first lifetime and
 * the time of a login.
 */
export interface PushLimit {
  readonly counter: 'client' | 'address' | 'site';
  /** Client id, or hashed address or site. */
  readonly key: string;
  readonly max: number;
}

export interface PushRefusal {
  readonly counter: PushLimit['counter'];
  /** Seconds until the counter has room, rounded up. */
  readonly retryAfter: number;
}

/** Seconds added at the first open, because a login can take longer than the `expires_in` of a FAPI 2.0 request. */
const LOGIN_LIFETIME = 5 * 60;
/** Seconds in which a logged-in user must answer. */
const ANSWER_LIFETIME = 15 * 60;
// All keys share the hash tag `{par}`, because a script may use keys of only one Redis Cluster slot.

/**
 * Nothing ──► pushed. The keys are the request, the client's counter and the other counters; the list contains a limit
 * for each counter. `ttl` and `login` are in milliseconds. Later scripts update only the client's counter, so the other
 * counters include the login time from the start.
 * @returns `{0, 0}`, or the 1-based index of the full counter and the milliseconds until it has room
 */
const PUSH = script(
  ['id', 'client', 'parameters', 'ttl', 'login'],
  `${COUNTERS}
local full, longest = fullest(2, #KEYS)
if full > 0 then return {full, longest} end
for i = 2, #KEYS do count(KEYS[i], id, i == 2 and ttl or ttl + login) end
redis.call('HSET', KEYS[1], 'status', 'pushed', 'client', client, 'parameters', parameters)
redis.call('PEXPIRE', KEYS[1], ttl)
return {0, 0}
`,
);

/** The keys are the request and the client's counter. `live` sets both TTLs. `ttl` and `remaining` are in ms. */
const liveScript = (lua: string) =>
  script(
    ['id', 'client', 'ttl', 'form'],
    `${COUNTERS}
local function live(remaining)
  redis.call('PEXPIRE', KEYS[1], remaining)
  count(KEYS[2], id, remaining)
end
${lua}`,
  );

const FIND = `
local status, stored_client, parameters, stored_form =
  unpack(redis.call('HMGET', KEYS[1], 'status', 'client', 'parameters', 'form'))
if not status then return {'unknown'} end
if stored_client ~= client then return {'other_client'} end
if status == 'answered' and (not form or stored_form ~= form) then return {'answered'} end
`;

/** pushed ──► visited. Only the first open extends the TTL. */
const VISIT = liveScript(`${FIND}
if status == 'pushed' then
  redis.call('HSET', KEYS[1], 'status', 'visited')
  live(redis.call('PTTL', KEYS[1]) + ttl)
end
return {'open', parameters}
`);

/** pushed or visited ──► opened. Only the first open after a login sets a new TTL. */
const OPEN = liveScript(`${FIND}
if status ~= 'opened' and status ~= 'answered' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(ttl)
end
return {'open', parameters}
`);

/** opened or answered ──► answered. `answers` counts the requests of the form that have not failed. */
const ANSWER = liveScript(`${FIND}
redis.call('HSET', KEYS[1], 'status', 'answered', 'form', form or '')
redis.call('HINCRBY', KEYS[1], 'answers', 1)
live(math.min(redis.call('PTTL', KEYS[1]), ttl))
return {'open', parameters}
`);

/** answered ──► opened, once every request of the form has failed. Does not recreate an expired request. */
const REOPEN = liveScript(`
if redis.call('HGET', KEYS[1], 'status') == 'answered' and redis.call('HINCRBY', KEYS[1], 'answers', -1) == 0 then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(ttl)
end
`);

const SCRIPTS = { parPush: PUSH, parVisit: VISIT, parOpen: OPEN, parAnswer: ANSWER, parReopen: REOPEN };

/**
 * Pushed requests in Redis (RFC 9126): `pushed ──► visited ──login──► opened ──► answered`. Methods throw
 * DependencyUnavailableError.
 */
@Injectable()
export class PushedRequestStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** @returns null if stored, otherwise the full counter with the longest wait */
  async push(
    { id, clientId, parameters, lifetime }: NewPushedRequest,
    limits: readonly PushLimit[],
  ): Promise<PushRefusal | null> {
    const keys = [requestKey(id), ...limits.map(({ counter, key }) => counterKey(counter, key))];
    const maxima = limits.map(({ max }) => max);
    const [ttl, login] = [lifetime * 1000, LOGIN_LIFETIME * 1000];
    const reply = await this.run('parPush', keys, { id, client: clientId, parameters, ttl, login }, maxima);
    const [full, wait] = reply as [number, number];
    const limit = limits[full - 1];
    return limit ? { counter: limit.counter, retryAfter: Math.ceil(wait / 1000) } : null;
  }

  /**
   * Reads a request that is unanswered, or answered by the same form. The first open, and the first open after a login,
   * extend the request's lifetime.
   */
  open(id: string, clientId: string, loggedIn: boolean, form: string | null = null): Promise<PushedRequest> {
    return loggedIn
      ? this.step('parOpen', id, clientId, ANSWER_LIFETIME, form)
      : this.step('parVisit', id, clientId, LOGIN_LIFETIME, form);
  }

  /**
   * Only the calls of one form get `open`, unless `reopen` is called after each.
   * @param lifetime seconds in which the form gets the same answer again, and other requests get a specific error
   */
  answer(id: string, clientId: string, form: string | null, lifetime: number): Promise<PushedRequest> {
    return this.step('parAnswer', id, clientId, lifetime, form);
  }

  /** Undoes `answer` after a failure, so that the user can retry. Call it only after `answer` has returned `open`. */
  async reopen(id: string, clientId: string): Promise<void> {
    const values = { id, client: clientId, ttl: ANSWER_LIFETIME * 1000, form: null };
    await this.run('parReopen', keysOf(id, clientId), values);
  }

  private async step(
    name: 'parVisit' | 'parOpen' | 'parAnswer',
    id: string,
    clientId: string,
    lifetime: number,
    form: string | null,
  ): Promise<PushedRequest> {
    const values = { id, client: clientId, ttl: lifetime * 1000, form };
    const reply = await this.run(name, keysOf(id, clientId), values);
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
