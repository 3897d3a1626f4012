import { NARROWED } from './narrowed.script.js';

/**
 * KEYS grant · ARGV client generation now(ms) window(ms) ttl(s) jkt scope access_expiry(ms).
 * active ──► active, generation + 1.
 *
 * - the stored generation: rotate.
 * - the one before, inside the retry window: the same pair again. Using the successor moves the stored
 *   generation on, which closes the window by itself.
 * - any older one: reuse, the caller revokes (RFC 9700 4.14.2).
 * - a later one: authentic, so Redis lost writes; take it for the stored one (also when the redemption was lost).
 *
 * A key or a scope that does not fit changes nothing.
 */
export const REFRESH = `${NARROWED}
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'user', 'scope', 'generation', 'rotated_at', 'jkt', 'narrowed')
local status, client, user, scope, generation, rotated_at = grant[1], grant[2], grant[3], grant[4], grant[5], grant[6]
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == 'revoked' then return {'revoked'} end
local jkt = grant[7] or ''
if jkt ~= '' and jkt ~= ARGV[6] then return {'key_mismatch'} end
local presented, now, window = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if presented < tonumber(generation) then
  if presented == tonumber(generation) - 1 and window > 0 and now - tonumber(rotated_at) < window then
    return {'active', client, user, scope, generation, rotated_at, jkt, narrowed_to(grant[8], generation)}
  end
  return {'refresh_token_reused', generation}
end
if not covers(scope, ARGV[7]) then return {'scope_exceeds', scope} end
local successor = string.format('%d', presented + 1)
local narrowed, lines = '', still_narrowed(grant[8], now)
if ARGV[7] ~= '' and not covers(ARGV[7], scope) then
  narrowed = ARGV[7]
  lines = lines .. successor .. ' ' .. ARGV[8] .. ' ' .. narrowed .. '\\n'
end
redis.call('HSET', KEYS[1], 'status', 'active', 'generation', successor, 'rotated_at', ARGV[3], 'jkt', ARGV[6])
if lines ~= '' then redis.call('HSET', KEYS[1], 'narrowed', lines) else redis.call('HDEL', KEYS[1], 'narrowed') end
redis.call('EXPIRE', KEYS[1], ARGV[5])
return {'active', client, user, scope, successor, ARGV[3], ARGV[6], narrowed}
`;
