import { NARROWED } from './narrowed.script.js';

/**
 * KEYS grant · ARGV client generation now(ms) window(ms) ttl(s) jkt key_refusal scope access_expiry(ms).
 * active ──► active, generation + 1.
 *
 * - the stored generation: rotate.
 * - the previous one, inside the retry window: the same pair again, or the same refresh token and an access token with the
 *   requested scope. Using the successor advances the stored generation, which closes the window.
 * - any older one: reuse, and the caller revokes (RFC 9700 4.14.2). Checked before the key: otherwise a thief could hide
 *   reuse by presenting a key of their own, or none.
 * - a later one: the token is authentic, so Redis lost writes; treat it as the stored one (also if the exchange was lost).
 *
 * A wrong key or scope changes nothing. `key_refusal` is the outcome for a key that does not fit the token; empty if it fits.
 * The code exchange binds the grant; if Redis lost that write (the status is still pending), the key comes from the token.
 * A generation has access tokens of at most two scopes: its grant's, and one that is narrower.
 */
export const REFRESH = `${NARROWED}
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'user', 'scope', 'generation', 'rotated_at', 'jkt', 'narrowed')
local status, client, user, scope, generation, rotated_at = grant[1], grant[2], grant[3], grant[4], grant[5], grant[6]
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == 'revoked' then return {'revoked'} end
local presented, now, window = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local is_older = presented < tonumber(generation)
local is_retry = presented == tonumber(generation) - 1 and window > 0 and now - tonumber(rotated_at) < window
if is_older and not is_retry then return {'refresh_token_reused', generation} end
local jkt = grant[7] or ''
if ARGV[7] ~= '' then return {ARGV[7]} end
if jkt ~= ARGV[6] and not (jkt == '' and status == 'pending') then return {'key_mismatch'} end
local asked = ARGV[8]
if not covers(scope, asked) then return {'scope_exceeds', scope} end
if not is_retry then generation, rotated_at = string.format('%d', presented + 1), ARGV[3] end
local lines = still_narrowed(grant[8], now)
local narrowed, is_new = '', false
if asked ~= '' and not covers(asked, scope) then
  narrowed = narrowed_to(lines, generation)
  is_new = narrowed == ''
  if is_new then narrowed, lines = asked, lines .. generation .. ' ' .. ARGV[9] .. ' ' .. asked .. '\\n' end
  if not (covers(narrowed, asked) and covers(asked, narrowed)) then return {'scope_differs', narrowed} end
end
if not is_retry then
  redis.call('HSET', KEYS[1], 'status', 'active', 'generation', generation, 'rotated_at', rotated_at, 'jkt', ARGV[6])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
end
if lines == '' then redis.call('HDEL', KEYS[1], 'narrowed')
elseif is_new or not is_retry then redis.call('HSET', KEYS[1], 'narrowed', lines) end
return {'active', client, user, scope, generation, rotated_at, ARGV[6], narrowed}
`;
