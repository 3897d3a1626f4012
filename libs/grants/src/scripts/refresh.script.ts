/**
 * KEYS grant · ARGV client generation now(ms) window(ms) ttl(s). active ──► active, generation + 1.
 *
 * - the stored generation: rotate.
 * - the one before, inside the retry window: the same pair again. Using the successor moves the stored
 *   generation on, which closes the window by itself.
 * - any older one: reuse, the caller revokes (RFC 9700 4.14.2).
 * - a later one: authentic, so Redis lost writes; take it for the stored one (also when the redemption was lost).
 */
export const REFRESH = `
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'user', 'scope', 'generation', 'rotated_at')
local status, client, generation, rotated_at = grant[1], grant[2], tonumber(grant[5]), tonumber(grant[6])
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == 'revoked' then return {'revoked'} end
local presented, now, window = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if presented < generation then
  if presented == generation - 1 and window > 0 and now - rotated_at < window then
    return {'active', client, grant[3], grant[4], grant[5], grant[6]}
  end
  return {'refresh_token_reused', grant[5]}
end
local successor = string.format('%d', presented + 1)
redis.call('HSET', KEYS[1], 'status', 'active', 'generation', successor, 'rotated_at', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return {'active', client, grant[3], grant[4], successor, ARGV[3]}
`;
