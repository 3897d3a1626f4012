import { POLL_INTERVAL } from '#oauth/device-authorization.js';
import {
  answer,
  COVERS,
  EXPIRE,
  grantScript,
  readGrant,
  refuse,
  REPLICATION_ID,
  RETRY,
  SET_OPTIONAL,
} from './grant-hash.js';

// Transitions of a device grant (docs/adr/0040-device-authorization.md). `interval` and `polled_at` are stored until
// the user decides.

/** Nothing ──► requested, generation 0: a device waits for its user (RFC 8628 3.2). */
export const REQUEST = grantScript(
  ['client', 'jkt', 'interval', 'ttl'],
  `${SET_OPTIONAL}
redis.call('HSET', KEYS[1], STATUS, REQUESTED, GENERATION, 0, CLIENT, client, 'interval', interval)
set_optional(JKT, jkt)
redis.call('EXPIRE', KEYS[1], ttl)
`,
);

/**
 * requested ──► pending. Keeps the TTL. Returns 2 if the same user has already allowed the same scope, because the
 * response may have been lost. Returns 0 if the request has expired, has another decision, or is from another client.
 */
export const APPROVE = grantScript(
  ['client', 'user', 'external_id', 'scope', 'resources', 'now', 'login', 'ends_at'],
  `${SET_OPTIONAL}${REPLICATION_ID}
local status, stored_client, stored_user, stored_scope = unpack(redis.call('HMGET', KEYS[1], STATUS, CLIENT, USER, SCOPE))
if stored_client ~= client then return 0 end
if (status == PENDING or status == ACTIVE) and stored_user == user and stored_scope == scope then return 2 end
if status ~= REQUESTED then return 0 end
redis.call('HSET', KEYS[1], STATUS, PENDING, USER, user, SCOPE, scope, ROTATED_AT, now, 'replication_id', replication_id())
set_optional(RESOURCES, resources)
set_optional(EXTERNAL_ID, external_id)
set_optional(LOGIN, login)
set_optional(ENDS_AT, ends_at)
redis.call('HDEL', KEYS[1], 'interval', 'polled_at')
return 1
`,
);

/**
 * requested ──► revoked. Keeps the TTL. A repetition succeeds as well, because the response may have been lost. Returns
 * 0 if the request has expired, was allowed, or is from another client.
 */
export const DENY = grantScript(
  ['client'],
  `
local status, stored_client, user = unpack(redis.call('HMGET', KEYS[1], STATUS, CLIENT, USER))
if stored_client ~= client or user or status ~= REQUESTED and status ~= REVOKED then return 0 end
redis.call('HSET', KEYS[1], STATUS, REVOKED)
redis.call('HDEL', KEYS[1], 'interval', 'polled_at')
return 1
`,
);

/** Milliseconds by which a poll may be early, because network delays vary. */
const POLL_TOLERANCE = 500;

/**
 * pending ──► active, generation 1 (RFC 8628 3.4).
 * - A poll before the end of the interval makes the interval longer (3.5), unless the user has decided.
 * - Within the retry window, a repeated poll gets the same pair, because the response may have been lost. A later poll,
 *   a poll after a refresh, or a poll with another key or for other resources counts as a replay, as in REDEEM.
 *   `request` and `given_up` have the same meaning as in REFRESH.
 * - Each poll must prove the key that the device proved first.
 * - A code that was approved before a failover is refused, as in REDEEM.
 * - A grant that was revoked before it had tokens counts as denied, even if the user had allowed the request.
 */
export const POLL = grantScript(
  ['client', 'resources', 'jkt', 'now', 'window', 'expired', 'ttl', 'request', 'given_up'],
  `${SET_OPTIONAL}${EXPIRE}${REPLICATION_ID}${COVERS}${RETRY}${readGrant('replication_id', 'interval', 'polled_at')}
if not status then ${refuse('unknown')} end
if not stored_client then ${refuse('revoked')} end
if stored_client ~= client then ${refuse('other_client', 'stored_client')} end
if status == REVOKED and stored_generation == '0' then ${refuse('decision_denied')} end
if status == REVOKED then ${refuse('revoked')} end
if status == ACTIVE then
  local repeats_failed = was_given_up()
  local is_retry = stored_generation == '1' and (repeats_failed or in_window(stored_time)) and stored_jkt == jkt
    and is_for(stored_resources, resources)
  if not is_retry then
    local used_by = stored_generation == '1' and stored_request() or ''
    ${refuse('code_replayed', "''", 'used_by')}
  end
  if repeats_failed then set_optional('request', request) end
  ${answer()}
end
if expired == '1' then ${refuse('expired')} end
if stored_jkt ~= '' and stored_jkt ~= jkt then ${refuse('key_mismatch')} end
if status == REQUESTED then
  set_optional(JKT, jkt)
  redis.call('HSET', KEYS[1], 'polled_at', now)
  if stored_polled_at and tonumber(now) - tonumber(stored_polled_at) < stored_interval * 1000 - ${POLL_TOLERANCE} then
    redis.call('HINCRBY', KEYS[1], 'interval', ${POLL_INTERVAL})
    ${refuse('polled_too_early')}
  end
  ${refuse('decision_pending')}
end
if stored_replication_id ~= replication_id() then ${refuse('issued_before_failover')} end
if not is_for(stored_resources, resources) then ${refuse('resource_exceeded', 'stored_resources')} end
redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, 1, ROTATED_AT, now)
set_optional(JKT, jkt)
set_optional('request', request)
redis.call('HDEL', KEYS[1], 'replication_id')
expire(ttl, ends_at)
stored_jkt, stored_generation, stored_time = jkt, '1', now
${answer()}
`,
);
