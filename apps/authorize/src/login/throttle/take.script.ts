/**
 * KEYS addressAndLogin address login siteAndLogin [device] · ARGV now(ms) attempt, then failures and window(ms) of
 * addressAndLogin, of siteAndLogin under attack, of address, login and device.
 *
 * Takes one try from every counter that has to allow it, or from none. A counter is a sorted set of the tries of its
 * window, by their time: bounded by its limit, and a try given back is that one and no other's, however late.
 */
export const TAKE = `
local now, attempt = tonumber(ARGV[1]), ARGV[2]
local function limit(i) return { failures = tonumber(ARGV[1 + 2 * i]), window = tonumber(ARGV[2 + 2 * i]) } end
local pair, attacked, address, login, device = limit(1), limit(2), limit(3), limit(4), limit(5)

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
-- It refuses nobody, so nothing else bounds it: the newest are all that its verdict needs.
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -login.failures - 1)
return {'unknown'}
`;
