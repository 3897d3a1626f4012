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

/** Not configurable, because people who mistype need few attempts, and guessing needs thousands. */
export const THROTTLE_LIMITS = {
  /** Per address and account. NIST SP 800-63B 5.2.2 allows 100 consecutive failures; people mistype a few times. */
  addressAndLogin: { failures: 5, window: 15 * MINUTE },
  /** Per address, for all accounts. Hundreds of people in an office fail less often than an attacker. */
  address: { failures: 50, window: 15 * MINUTE },
  /** Per account, for all unknown devices. No owner fails this often; only an attack from many addresses does. */
  login: { failures: 100, window: 60 * MINUTE },
  /** Replaces addressAndLogin while `login` is exceeded (for IPv6, per site). Allows the owner one attempt. */
  addressAndLoginUnderAttack: { failures: 1, window: 15 * MINUTE },
  /** Per known device and account, because a device may be stolen. */
  device: { failures: 20, window: 15 * MINUTE },
} as const satisfies Record<string, ThrottleLimit>;

/** Names of the counters of an attempt, which do not reveal the login or the address. */
export interface Counters {
  readonly addressAndLogin: string;
  readonly address: string;
  readonly login: string;
  /** Counter for the site of the address; equals `addressAndLogin` for IPv4. */
  readonly siteAndLogin: string;
  readonly device: string | null;
}

/** `login` means that many addresses are guessing the password, and that this address has used its attempt. */
export type RefusingCounter = 'address_and_login' | 'address' | 'login';

export type Verdict =
  | { readonly outcome: 'device' | 'unknown' }
  | { readonly outcome: 'refused'; readonly counter: RefusingCounter; readonly wait: number };

const luaOf = ({ failures, window }: ThrottleLimit): string =>
  `{ failures = ${failures}, window = ${window} }`;

/**
 * KEYS addressAndLogin address login siteAndLogin [device]. Adds the attempt of a known device only to the device's
 * counter. If the device is unknown or has reached its limit, adds the attempt to all other counters, or to none if the
 * attempt is refused. A counter is a sorted set of attempts with their times as scores, so that a single attempt can be
 * removed at any time.
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
-- This counter also counts attempts above the limit, so the set must be bounded. Only the newest entries matter.
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -login.failures - 1)
return {'unknown'}
`,
);

const SCRIPTS = { throttleCount: COUNT_ATTEMPT };

/** Does not use `rate-limiter-flexible`, which counts an attempt even if another counter refuses the attempt. */
@Injectable()
export class ThrottleStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  /** Counts an attempt in one round trip before it is made, so that concurrent attempts cannot exceed a limit. */
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

/** All keys have the same hash tag, because a script can only use keys of one Redis Cluster slot. */
function keyOf(counter: string): string {
  return `{throttle}:${counter}`;
}
