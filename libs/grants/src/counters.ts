/**
 * Lua of bounded counters. A counter is a sorted set of ids, scored by their expiry on Redis's clock: what has expired frees its place
 * without a clean-up job. `wait` returns the milliseconds until a counter has room, 0 if it has;
 * `fullest` returns which of KEYS[first] to KEYS[last] has the longest wait, and that wait. Their limits begin at ARGV[max].
 */
export const COUNTERS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function count(counter, id, ttl)
  redis.call('ZADD', counter, now + ttl, id)
  if redis.call('PTTL', counter) < ttl then redis.call('PEXPIRE', counter, ttl) end
end
local function wait(counter, max)
  redis.call('ZREMRANGEBYSCORE', counter, '-inf', now)
  local excess = redis.call('ZCARD', counter) - max
  if excess < 0 then return 0 end
  return redis.call('ZRANGE', counter, excess, excess, 'WITHSCORES')[2] - now
end
local function fullest(first, last, max)
  local full, longest = 0, 0
  for i = first, last do
    local remaining = wait(KEYS[i], ARGV[max + i - first])
    if remaining > longest then full, longest = i - first + 1, remaining end
  end
  return full, longest
end
`;
