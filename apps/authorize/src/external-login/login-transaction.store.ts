import { createHmac, hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '#keys/key-ring.js';
import { addressNetwork, addressSite } from '#platform/http/client-address.js';
import { defineScripts, type RedisClient, type RunScript, script } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

export interface LoginTransaction {
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Data that the login method needs in the callback, such as the nonce. */
  readonly details: Readonly<Record<string, string>>;
}

export type ConsumedTransaction =
  | ({ readonly outcome: 'open' } & LoginTransaction)
  | { readonly outcome: 'used'; readonly query: string }
  /** Another browser started the login, or this browser has lost its cookie. The transaction is not consumed. */
  | { readonly outcome: 'other_browser'; readonly query: string }
  | { readonly outcome: 'unknown' };

/** In seconds. Longer than LOGIN_VALIDITY, so that the error page of an expired login can restart the login. */
const LIFETIME = 60 * 60;

/** KiB that logins from an address (IPv6 /64) or site (/48) may store in ten minutes, so that none can fill Redis. */
export const LOGIN_STARTS = { address: 600, site: 2_000 } as const;
const UNIT_BYTES = 1_024;
/** Upper bound of the memory that Redis needs for a transaction in addition to its texts. */
const OVERHEAD_BYTES = 300;
/** jemalloc rounds an allocation up by at most a quarter. */
const ALLOCATED = 1.25;
const STARTS_WINDOW_S = 10 * 60;

/**
 * KEYS transaction counter…; the list has one limit per counter. Stores the login and returns 0, or stores nothing and
 * returns the seconds until the login fits the limits. `cost` is in KiB.
 */
const BEGIN = script(
  ['browser', 'query', 'login', 'cost', 'window', 'ttl'],
  `
for i = 2, #KEYS do
  if tonumber(redis.call('GET', KEYS[i]) or '0') + cost > tonumber(ARGV[LIST + i - 2]) then return math.max(redis.call('TTL', KEYS[i]), 1) end
end
for i = 2, #KEYS do
  if redis.call('INCRBY', KEYS[i], cost) == tonumber(cost) then redis.call('EXPIRE', KEYS[i], window) end
end
redis.call('HSET', KEYS[1], 'browser', browser, 'query', query, 'login', login)
redis.call('EXPIRE', KEYS[1], ttl)
return 0
`,
);

/**
 * KEYS transaction. Consumes the login, and keeps the query for concurrent callbacks. Returns `{query, 1, login}`,
 * `{query, 1, null}` for a consumed login, `{query, 0}` for another browser, or `{}` for an unknown transaction.
 */
const CONSUME = script(
  ['browser'],
  `
local stored_browser, query, login = unpack(redis.call('HMGET', KEYS[1], 'browser', 'query', 'login'))
if not stored_browser then return {} end
if stored_browser ~= browser then return {query, 0} end
redis.call('HDEL', KEYS[1], 'login')
return {query, 1, login}
`,
);

const SCRIPTS = { loginBegin: BEGIN, loginConsume: CONSUME };

/** Stores only hashes of `state` and the login cookie, so that a reader of Redis cannot continue a login. */
@Injectable()
export class LoginTransactionStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  private readonly key: Buffer;

  constructor(@Inject(REDIS) redis: RedisClient, keys: KeyRing) {
    this.key = keys.signingKeyFor('throttle');
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** @returns 0, or the seconds until this address may start another login */
  async begin(
    state: string,
    browser: string,
    address: string | undefined,
    { query, ...login }: LoginTransaction,
  ): Promise<number> {
    const [network, site] = [addressNetwork(address), addressSite(address)];
    const counters: [key: string, max: number][] = [[this.counterOf(network), LOGIN_STARTS.address]];
    if (site !== network) counters.push([this.counterOf(site), LOGIN_STARTS.site]);
    const key = keyOf(state);
    const stored = { browser: sha256(browser), query, login: JSON.stringify(login) };
    const bytes = OVERHEAD_BYTES + ALLOCATED * Buffer.byteLength([key, ...Object.values(stored)].join(''));
    const cost = Math.ceil(bytes / UNIT_BYTES);
    return (await this.run(
      'loginBegin',
      [key, ...counters.map(([counter]) => counter)],
      { ...stored, cost, window: STARTS_WINDOW_S, ttl: LIFETIME },
      counters.map(([, max]) => max),
    )) as number;
  }

  async consume(state: string, browser: string | null): Promise<ConsumedTransaction> {
    const reply = await this.run('loginConsume', [keyOf(state)], {
      browser: browser === null ? null : sha256(browser),
    });
    const [query, own, login] = reply as [query?: string, own?: number, login?: string | null];
    if (query === undefined) return { outcome: 'unknown' };
    if (own !== 1) return { outcome: 'other_browser', query };
    if (!login) return { outcome: 'used', query };
    return { outcome: 'open', query, ...(JSON.parse(login) as Omit<LoginTransaction, 'query'>) };
  }

  /** Returns an HMAC, because Redis must not contain plain addresses. */
  private counterOf(network: string): string {
    return `{login}:starts:${createHmac('sha256', this.key).update(`login:${network}`).digest('base64url')}`;
  }
}

/** All keys have the same hash tag, because a script can only use keys of one Redis Cluster slot. */
function keyOf(state: string): string {
  return `{login}:transaction:${sha256(state)}`;
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
