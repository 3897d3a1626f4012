import { NARROWED } from './narrowed.script.js';

/**
 * KEYS grant · ARGV generation issued_at(ms) ttl(s) narrowed(0|1) jkt. Reads a grant for an authentic access or refresh
 * token. A later generation than the stored one moves the state forward, as in the refresh script. A narrowed access
 * token whose scope Redis has lost is unknown, because its scope must not widen. A token whose key differs from its
 * grant's is refused, and so is a bearer token of a bound grant. The code exchange binds the grant; if Redis lost that
 * write (the status is still pending), the key comes from the token.
 */
export const LOOK = `${NARROWED}
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'user', 'scope', 'generation', 'rotated_at', 'jkt', 'narrowed')
local generation, rotated_at, jkt = grant[5], grant[6], grant[7] or ''
if not grant[1] then return {'unknown'} end
if grant[1] == 'revoked' then return {'revoked'} end
if jkt ~= ARGV[5] and not (jkt == '' and grant[1] == 'pending') then return {'key_mismatch'} end
local narrowed = ''
if ARGV[4] == '1' then
  narrowed = narrowed_to(grant[8], ARGV[1])
  if narrowed == '' then return {'unknown'} end
end
if tonumber(ARGV[1]) > tonumber(generation) then
  generation, rotated_at = ARGV[1], ARGV[2]
  redis.call('HSET', KEYS[1], 'status', 'active', 'generation', generation, 'rotated_at', rotated_at, 'jkt', ARGV[5])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return {'active', grant[2], grant[3], grant[4], generation, rotated_at, ARGV[5], narrowed}
`;
