/**
 * State transitions of a pushed request. A push checks its counters, counts and stores in one script. All keys share the hash
 * tag `{par}`, because a script may touch keys of only one Redis Cluster slot.
 *
 * A counter is a sorted set of request ids, scored by the time they stop counting (Redis' clock). Expired entries drop out
 * without a clean-up job, so a crashed client or an expired request never holds a slot.
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
 * KEYS request counter… · ARGV id client parameters ttl(ms), then one limit per counter. Nothing ──► pushed, if every counter
 * is below its limit; otherwise nothing changes.
 *
 * @returns `{0, 0}`, or the 1-based index of the full counter and the milliseconds until it has room
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

/** KEYS request client-counter · ARGV id. Sets a new TTL on the request and on its entry in the client's counter. */
const LIVE = `${COUNT}
local function live(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  count(KEYS[2], ARGV[1], ttl)
end
`;

/** ARGV[2] client. Returns early, without a change, if the request is missing, belongs to another client or is answered. */
const FIND = `
local request = redis.call('HMGET', KEYS[1], 'status', 'client', 'parameters')
local status = request[1]
if not status then return {'unknown'} end
if request[2] ~= ARGV[2] then return {'other_client'} end
if status == 'answered' then return {'answered'} end
`;

/**
 * KEYS request client-counter · ARGV id client ttl(ms). pushed ──► opened with a new TTL. Only the first open extends the
 * lifetime, so reloads cannot keep a request alive. A TTL of 0 only reads.
 */
export const OPEN = `${LIVE}${FIND}
local ttl = tonumber(ARGV[3])
if status == 'pushed' and ttl > 0 then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(ttl)
end
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id client ttl(ms). pushed or opened ──► answered, kept for at most `ttl`. */
export const ANSWER = `${LIVE}${FIND}
redis.call('HSET', KEYS[1], 'status', 'answered')
live(math.min(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])))
return {'open', request[3]}
`;

/** KEYS request client-counter · ARGV id ttl(ms). answered ──► opened. Does not recreate an expired request. */
export const REOPEN = `${LIVE}
if redis.call('HGET', KEYS[1], 'status') == 'answered' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  live(tonumber(ARGV[2]))
end
`;
