import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { defineScripts, type RunScript } from '#platform/redis/redis-commands.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** A login that a browser began, and that the product's own login finishes. */
export interface LoginTransaction {
  /** Of the authorization request that the login continues, or of the page to return to; may be empty. */
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the way of logging in needs again when the browser returns, such as the nonce. */
  readonly details: Readonly<Record<string, string>>;
}

export type ConsumedTransaction =
  | ({ readonly outcome: 'open' } & LoginTransaction)
  /** The browser has already returned with this state. */
  | { readonly outcome: 'used'; readonly query: string }
  /** Another browser began the login, or this one has lost its cookie. Nothing changes. */
  | { readonly outcome: 'other_browser'; readonly query: string }
  | { readonly outcome: 'unknown' };

/**
 * Seconds for which a transaction is kept. Longer than its validity (external-login.service.ts): the page of an expired
 * login still knows the authorization request.
 */
const LIFETIME = 60 * 60;

/** KEYS transaction · ARGV browser query login ttl */
const BEGIN = `
redis.call('HSET', KEYS[1], 'browser', ARGV[1], 'query', ARGV[2], 'login', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
`;

/**
 * KEYS transaction · ARGV browser. One step, so that of simultaneous returns of the browser one gets the login. The query
 * stays, for the others.
 *
 * @returns `{query, whether it is this browser's, login}`; shorter if there is none
 */
const CONSUME = `
local found = redis.call('HMGET', KEYS[1], 'browser', 'query', 'login')
if not found[1] then return {} end
if found[1] ~= ARGV[1] then return {found[2], 0} end
redis.call('HDEL', KEYS[1], 'login')
return {found[2], 1, found[3]}
`;

/**
 * Login transactions in Redis, one key each, under the SHA-256 of `state`. The browser's login cookie is stored as its
 * SHA-256 too: what Redis or its backup holds continues no login. Every method throws DependencyUnavailableError if Redis
 * does not answer.
 */
@Injectable()
export class LoginTransactionStore {
  private readonly run: RunScript<'loginBegin' | 'loginConsume'>;

  constructor(@Inject(REDIS) redis: RedisClient) {
    this.run = defineScripts(redis, { loginBegin: BEGIN, loginConsume: CONSUME });
  }

  /** @param browser value of the login cookie */
  async begin(state: string, browser: string, { query, ...login }: LoginTransaction): Promise<void> {
    await this.run('loginBegin', [keyOf(state)], sha256(browser), query, JSON.stringify(login), LIFETIME);
  }

  /** @param browser value of the login cookie; null if the browser sent none */
  async consume(state: string, browser: string | null): Promise<ConsumedTransaction> {
    const [query, own, login] = (await this.run(
      'loginConsume',
      [keyOf(state)],
      browser === null ? '' : sha256(browser),
    )) as [query?: string, own?: number, login?: string | null];
    if (query === undefined) return { outcome: 'unknown' };
    if (own !== 1) return { outcome: 'other_browser', query };
    if (!login) return { outcome: 'used', query };
    return { outcome: 'open', query, ...(JSON.parse(login) as Omit<LoginTransaction, 'query'>) };
  }
}

function keyOf(state: string): string {
  return `login:${sha256(state)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
