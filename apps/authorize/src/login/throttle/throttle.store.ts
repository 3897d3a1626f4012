import { Inject, Injectable } from '@nestjs/common';
import type { RedisClient } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.token.js';
import { TAKE } from './take.script.js';
import { THROTTLE_LIMITS } from './throttle-limits.js';
import { ThrottleStoreUnavailableError } from './throttle-store-unavailable.error.js';

/** The counters of a try, by names that tell nothing. */
export interface Counters {
  readonly addressAndLogin: string;
  readonly address: string;
  readonly login: string;
  /** `addressAndLogin` for the whole site of the address: the same one for IPv4. */
  readonly siteAndLogin: string;
  /** Null when the device is not known to the account. */
  readonly device: string | null;
}

/** Which counter refused. `login`: the account is guessed at from many addresses, and this one had its try. */
export type RefusingCounter = 'address_and_login' | 'address' | 'login';

/** What became of a try: counted with its device, counted as an unknown device's, or refused for so many milliseconds. */
export type Verdict =
  | { readonly outcome: 'device' | 'unknown' }
  | { readonly outcome: 'refused'; readonly counter: RefusingCounter; readonly wait: number };

type Take = (keys: number, ...args: (string | number)[]) => Promise<[string, RefusingCounter, number]>;

const LIMITS = [
  THROTTLE_LIMITS.addressAndLogin,
  THROTTLE_LIMITS.addressAndLoginUnderAttack,
  THROTTLE_LIMITS.address,
  THROTTLE_LIMITS.login,
  THROTTLE_LIMITS.device,
].flatMap(({ failures, window }) => [failures, window]);

/**
 * Failed logins in Redis, one sorted set a counter. A script of our own, since the counters of
 * `rate-limiter-flexible` are taken one by one, also by tries that another of them refuses, and a point given back
 * when its window is over is one too many in the next. Every method throws ThrottleStoreUnavailableError when Redis
 * does not answer.
 */
@Injectable()
export class ThrottleStore {
  private readonly runScript: Take;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    redis.defineCommand('throttleTake', { lua: TAKE });
    this.runScript = (redis as unknown as { throttleTake: Take }).throttleTake.bind(redis);
  }

  /** Counts a try before it is made, in one round trip: of any number at once no more are let through than may. */
  async take(
    { addressAndLogin, address, login, siteAndLogin, device }: Counters,
    attempt: string,
    now: number,
  ): Promise<Verdict> {
    const names = [addressAndLogin, address, login, siteAndLogin, ...(device === null ? [] : [device])];
    const [outcome, counter, wait] = await answered(
      this.runScript(names.length, ...names.map(keyOf), now, attempt, ...LIMITS),
    );
    return outcome === 'refused' ? { outcome, counter, wait } : { outcome: outcome as 'device' | 'unknown' };
  }

  /** Takes a try out of counters, in one round trip; where it is not any more, nothing happens. */
  async giveBack(counters: readonly string[], attempt: string): Promise<void> {
    await answered(Promise.all([...new Set(counters)].map((name) => this.redis.zrem(keyOf(name), attempt))));
  }

  /** Forgets every failure that a counter holds. */
  async clear(counter: string): Promise<void> {
    await answered(this.redis.del(keyOf(counter)));
  }
}

/** One hash tag for all: a script may only touch keys of one slot of a Redis Cluster. */
function keyOf(counter: string): string {
  return `{throttle}:${counter}`;
}

async function answered<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new ThrottleStoreUnavailableError(cause);
  }
}
