import { HISTORY } from './history.script.js';

/**
 * KEYS grant · ARGV client redirect_uri challenge jkt now(ms) expired(0|1) ttl(s). pending ──► active, generation 1.
 *
 * The client is checked before anything else, so that another client learns and changes nothing. A code of a
 * grant that is already active has been seen before (RFC 6749 4.1.2): the caller revokes. It is reported and
 * not changed here, because revocation begins in PostgreSQL; until then every further replay is reported as well.
 *
 * A code that another history of writes began may have been redeemed on it, and the redemption lost in a fail-over: it
 * is refused. Codes of a version that wrote no history, of a minute at most, are taken.
 */
export const REDEEM = `${HISTORY}
local grant = redis.call('HMGET', KEYS[1], 'status', 'client', 'redirect_uri', 'challenge', 'user', 'scope', 'jkt', 'history')
local status, client, redirect_uri, challenge, jkt = grant[1], grant[2], grant[3], grant[4], grant[7]
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == 'revoked' then return {'revoked'} end
if status == 'active' then return {'code_replayed'} end
if ARGV[6] == '1' then return {'expired'} end
if grant[8] and grant[8] ~= history() then return {'history_lost'} end
if redirect_uri ~= ARGV[2] then return {'redirect_uri_mismatch', redirect_uri} end
if jkt ~= '' and jkt ~= ARGV[4] then return {'key_mismatch'} end
if challenge == '' and ARGV[3] ~= '' then return {'verifier_unexpected'} end
if challenge ~= '' and ARGV[3] == '' then return {'verifier_missing'} end
if challenge ~= ARGV[3] then return {'verifier_mismatch'} end
redis.call('HSET', KEYS[1], 'status', 'active', 'generation', 1, 'rotated_at', ARGV[5], 'jkt', ARGV[4])
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'history')
redis.call('EXPIRE', KEYS[1], ARGV[7])
return {'active', client, grant[5], grant[6], '1', ARGV[5], ARGV[4], ''}
`;
