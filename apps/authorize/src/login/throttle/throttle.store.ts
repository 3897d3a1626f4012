import { Inject, Injectable } from '@nestjs/common';
import {
  defineScripts,
  type RedisClient,
  type RunScript,
  script,
  withRedisErrors,
} from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

/** `window` is in milliseconds. */
export interface ThrottleLimit {
  readonly failures: number;
  readonly window: number;
}

const MINUTE = 60_000;

/** Not configurable: people who mistype need few attempts, and guessing needs thousands. */
export const THROTTLE_LIMITS = {
  /** One address and account. NIST SP 800-63B 5.2.2 allows 100 consecutive failures; people mistype a few times. */
  addressAndLogin: { failures: 5, window: 15 * MINUTE },
  /** One address, all accounts. Hundreds of people in an office fail less often than a list of leaked passwords. */
  address: { failures: 50, window: 15 * MINUTE },
  /** All unknown devices of one account. No owner fails this often: many addresses are guessing the password. */
  login: { failures: 100, window: 60 * MINUTE },
  /** Replaces addressAndLogin (IPv6: per site) while `login` is exceeded. Not 0: the owner may be in a new place. */
  addressAndLoginUnderAttack: { failures: 1, window: 15 * MINUTE },
  /** One known device and its account. The device may be stolen. */
  device: { failures: 20, window: 15 * MINUTE },
} as const satisfies Record<string, ThrottleLimit>;

/** Names of the counters of an attempt, which do not reveal the login or the address. */
export interface Counters {
  readonly addressAndLogin: string;
  readonly address: string;
  readonly login: string;
  /** `addressAndLogin` for the site of the address; equal for IPv4. */
  readonly siteAndLogin: string;
  readonly device: string | null;
}

/** `login`: many addresses are guessing the password of the account, and this address has used its attempt. */
export type RefusingCounter = 'address_and_login' | 'address' | 'login';

export type Verdict =
  | { readonly outcome: 'device' | 'unknown' }
  | { readonly outcome: 'refused'; readonly counter: RefusingCounter; readonly wait: number };

const luaOf = ({ failures, window }: ThrottleLimit): string =>
  `{ failures = ${failures}, window = ${window} }`;

/**
 * KEYS addressAndLogin address login siteAndLogin [device]. Adds an attempt to every counter that must allow it, or to
 * none. A counter is a sorted set by time, so a single attempt can be removed, however late.
 */
const COUNT_ATTEMPT = script(
  ['attempt', 'now'],
  `
local pair, attacked = ${luaOf(THROTTLE_LIMITS.addressAndLogin)}, ${luaOf(THROTTLE_LIMITS.addressAndLoginUnderAttack)}
local address, login = ${luaOf(THROTTLE_LIMITS.address)}, ${luaOf(THROTTLE_LIMITS.login)}
local device = ${luaOf(THROTTLE_LIMITS.device)}

local function count(key, window)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  return redis.call('ZCARD', key)
end

local function wait(key, allowed)
  local excess = count(key, allowed.window) - allowed.failures
  if excess < 0 then return 0 end
  local leaving = redis.call('ZRANGE', key, excess, excess, 'WITHSCORES')
  return tonumber(leaving[2]) + allowed.window - now
end

local function add(key, allowed)
  redis.call('ZADD', key, now, attempt)
  redis.call('PEXPIRE', key, allowed.window)
end

if KEYS[5] and wait(KEYS[5], device) == 0 then
  add(KEYS[5], device)
  return {'device'}
end

local pairKey, by = KEYS[1], 'address_and_login'
if count(KEYS[3], login.window) >= login.failures then
  pairKey, pair, by = KEYS[4], attacked, 'login'
end
local forAddress, forPair = wait(KEYS[2], address), wait(pairKey, pair)
if forAddress > forPair then return {'refused', 'address', forAddress} end
if forPair > 0 then return {'refused', by, forPair} end

add(KEYS[1], pair)
add(KEYS[4], pair)
add(KEYS[2], address)
add(KEYS[3], login)
-- An attempt is counted here even above the limit, so the set is bounded explicitly; the decision needs only the newest entries.
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -login.failures - 1)
return {'unknown'}
`,
);

const SCRIPTS = { throttleCount: COUNT_ATTEMPT };

/** Not `rate-limiter-flexible`, which counts an attempt in some counters even if another counter refuses it. */
@Injectable()
export class ThrottleStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** Counts an attempt before it is made, in one round trip, so that concurrent attempts cannot exceed a limit. */
  async count(
    { addressAndLogin, address, login, siteAndLogin, device }: Counters,
    attempt: string,
    now: number,
  ): Promise<Verdict> {
    const names = [addressAndLogin, address, login, siteAndLogin, ...(device === null ? [] : [device])];
    const reply = await this.run('throttleCount', names.map(keyOf), { attempt, now });
    const [outcome, counter, wait] = reply as [string, RefusingCounter, number];
    return outcome === 'refused' ? { outcome, counter, wait } : { outcome: outcome as 'device' | 'unknown' };
  }

  async remove(counters: readonly string[], attempt: string): Promise<void> {
    await withRedisErrors(
      Promise.all([...new Set(counters)].map((name) => this.redis.zrem(keyOf(name), attempt))),
    );
  }

  async clear(counter: string): Promise<void> {
    await withRedisErrors(this.redis.del(keyOf(counter)));
  }
}

/** One hash tag for all keys: a script can use keys of one Redis Cluster slot only. */
function keyOf(counter: string): string {
  return `{throttle}:${counter}`;
}
