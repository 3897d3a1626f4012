/**
 * Bounded counters in Lua. A counter is a sorted set of ids, scored by expiry on Redis's clock, so it needs no clean-up
 * job. `wait` returns the milliseconds until a counter has room. `fullest` applies the list of limits to the counters
 * KEYS[first] to KEYS[last], and returns the 1-based index and the wait of the counter with the longest wait, or 0 and
 * 0 if every counter has room. TTLs are in milliseconds.
 */
export const COUNTERS = `
local function count(counter, id, ttl)
  redis.call('ZADD', counter, server_now + ttl, id)
  if redis.call('PTTL', counter) < tonumber(ttl) then redis.call('PEXPIRE', counter, ttl) end
end
local function wait(counter, max)
  redis.call('ZREMRANGEBYSCORE', counter, '-inf', server_now)
  local excess = redis.call('ZCARD', counter) - max
  if excess < 0 then return 0 end
  return redis.call('ZRANGE', counter, excess, excess, 'WITHSCORES')[2] - server_now
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
