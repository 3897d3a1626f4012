/**
 * KEYS grant · ARGV generation issued_at(ms) ttl(s). Reads a grant for an authentic access or refresh token.
 * A later generation than the stored one moves the state forward, as in the refresh script.
 */
export const LOOK = `
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'user', 'scope', 'generation', 'rotated_at')
if not grant[1] then return {'unknown'} end
if grant[1] == 'revoked' then return {'revoked'} end
if tonumber(ARGV[1]) > tonumber(grant[5]) then
  redis.call('HSET', KEYS[1], 'status', 'active', 'generation', ARGV[1], 'rotated_at', ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  return {'active', grant[2], grant[3], grant[4], ARGV[1], ARGV[2]}
end
return {'active', grant[2], grant[3], grant[4], grant[5], grant[6]}
`;
