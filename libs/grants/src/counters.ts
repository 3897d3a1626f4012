/**
 * Lua of bounded counters: sorted sets of ids, scored by their expiry on Redis's clock, which need no clean-up
 * job. `wait` returns the milliseconds until a counter has room. `fullest` compares KEYS[first] to KEYS[last] with the
 * list of limits. TTLs are milliseconds.
 */
export const COUNTERS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function count(counter, id, ttl)
  redis.call('ZADD', counter, now + ttl, id)
  if redis.call('PTTL', counter) < tonumber(ttl) then redis.call('PEXPIRE', counter, ttl) end
end
local function wait(counter, max)
  redis.call('ZREMRANGEBYSCORE', counter, '-inf', now)
  local excess = redis.call('ZCARD', counter) - max
  if excess < 0 then return 0 end
  return redis.call('ZRANGE', counter, excess, excess, 'WITHSCORES')[2] - now
end
local function fullest(first, last)
  local full, longest = 0, 0
  for i = first, last do
    local remaining = wait(KEYS[i], ARGV[LIST + i - first])
    if remaining > longest then full, longest = i - first + 1, remaining end
  end
  return full, longest
end
`;
