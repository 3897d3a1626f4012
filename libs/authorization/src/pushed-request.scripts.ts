/**
 * The steps of a pushed request. A push has to check its counters, count and store in one step: hence one hash tag for all keys,
 * `{par}`, as a script may only touch keys of one slot of a Redis Cluster.
 *
 * A counter is a sorted set of request ids by the time until which they count, on Redis' own clock. What is over falls out by
 * itself: whoever dies, and whichever request expires, no count is left behind.
 */
const COUNT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function count(counter, id, ttl)
  redis.call('ZADD', counter, now + ttl, id)
  if redis.call('PTTL', counter) < ttl then redis.call('PEXPIRE', counter, ttl) end
end
`;

/**
 * KEYS request counter… · ARGV id client parameters ttl(ms), then the most that each counter takes. Nothing ──► pushed, if every
 * counter takes one more; else nothing changes.
 *
 * @returns 0, or the place of the full counter in KEYS from 1 on, and the milliseconds until it takes one more
 */
export const PUSH = `${COUNT}
local ttl = tonumber(ARGV[4])
local full, wait = 0, 0
for i = 2, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  local excess = redis.call('ZCARD', KEYS[i]) - ARGV[3 + i]
  if excess >= 0 then
    local leaving = redis.call('ZRANGE', KEYS[i], excess, excess, 'WITHSCORES')
    if leaving[2] - now > wait then full, wait = i - 1, leaving[2] - now end
  end
end
if full > 0 then return {full, wait} end
for i = 2, #KEYS do count(KEYS[i], ARGV[1], ttl) end
redis.call('HSET', KEYS[1], 'status', 'pushed', 'client', ARGV[2], 'parameters', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ttl)
return {0, 0}
`;

/** KEYS request client-counter · ARGV id. Gives the request another end, up to which its client's counter has it as well. */
const LIVE = `${COUNT}
local function live(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  count(KEYS[2], ARGV[1], ttl)
end
`;

/** ARGV[2] client. A request that is missing, another client's or answered already ends the script and changes nothing. */
const FIND = `
local request = redis.call('HMGET', KEYS[1], 'status', 'client', 'parameters')
local status = request[1]
if not status then return {'unknown'} end
if request[2] ~= ARGV[2] then return {'other_client'} end
if status == 'answered' then return {'answered'} end
`;

/**
 * KEYS request client-counter · ARGV id client ttl(ms). pushed ──► opened with a new TTL, once, so that no reload makes a request
 * live for ever. With 0 as TTL it is only read.
 */
export const OPEN = `${LIVE}${FIND}
local ttl = tonumber(ARGV[3])
if status == 'pushed' and ttl > 0 then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(ttl)
end
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id client ttl(ms). pushed or opened ──► answered, which stays for that long at most. */
export const ANSWER = `${LIVE}${FIND}
redis.call('HSET', KEYS[1], 'status', 'answered')
live(math.min(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])))
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id ttl(ms). answered ──► opened; a key that is gone stays gone. */
export const REOPEN = `${LIVE}
if redis.call('HGET', KEYS[1], 'status') == 'answered' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(tonumber(ARGV[2]))
end
`;
