import {
  answer,
  COVERS,
  EXISTS,
  EXPIRE,
  grantScript,
  readGrant,
  refuse,
  REPLICATION_ID,
  RETRY,
  SET_OPTIONAL,
} from './grant-hash.js';

// Each transition is one script with one key, in one round trip (docs/adr/0003-grant-as-one-key.md). REDEEM, REFRESH
// and INTROSPECT return an ActiveReply or a RefusedReply.

/**
 * Nothing ──► pending, generation 0. Returns the status and its time. An existing key is the grant of the same form,
 * perhaps already redeemed, a tombstone, or the mark of VOID_CODE.
 */
export const CREATE = grantScript(
  [
    'client',
    'user',
    'external_id',
    'scope',
    'resources',
    'redirect_uri',
    'challenge',
    'jkt',
    'now',
    'ttl',
    'login',
    'id_token',
    'ends_at',
  ],
  `${SET_OPTIONAL}${REPLICATION_ID}
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('HMGET', KEYS[1], STATUS, ROTATED_AT) end
redis.call('HSET', KEYS[1], STATUS, PENDING, GENERATION, 0, CLIENT, client, USER, user, SCOPE, scope,
  'redirect_uri', redirect_uri, 'challenge', challenge, ROTATED_AT, now, 'replication_id', replication_id())
set_optional(JKT, jkt)
set_optional(RESOURCES, resources)
set_optional(EXTERNAL_ID, external_id)
set_optional(LOGIN, login)
set_optional(ENDS_AT, ends_at)
set_optional('id_token', id_token)
redis.call('EXPIRE', KEYS[1], ttl)
return {PENDING, now}
`,
);

/**
 * pending ──► active, generation 1.
 * - The client is checked first, so that another client cannot learn or change anything.
 * - RFC 6749 4.1.2: the code of an active grant is a replay, which is reported until the caller has revoked the grant.
 * - A code issued before a failover is refused, because Redis may have lost the redemption
 *   (docs/adr/0009-fail-over.md).
 * - Resources are checked last, so that a client that requested a wrong resource can repeat the request.
 * - KEYS[2] keeps the pending grant and the id of this request for the rest of the code's lifetime. If the client gets
 *   an error and no tokens, the next request gives the code back (docs/adr/0043-deadlines-of-scripts.md).
 */
export const REDEEM = grantScript(
  ['client', 'resources', 'redirect_uri', 'challenge', 'jkt', 'now', 'expired', 'ttl', 'request', 'given_up'],
  `${SET_OPTIONAL}${EXPIRE}${REPLICATION_ID}${COVERS}
if given_up then
  local used, generation = unpack(redis.call('HMGET', KEYS[1], STATUS, GENERATION))
  if used == ACTIVE and generation == '1' and redis.call('HGET', KEYS[2], 'request') == given_up then
    redis.call('RENAME', KEYS[2], KEYS[1])
  end
end
${readGrant('redirect_uri', 'challenge', 'replication_id', 'id_token', 'void')}
if stored_void then ${refuse('revoked')} end
if not status then ${refuse('unknown')} end
if not stored_client then ${refuse('revoked')} end
if stored_client ~= client then ${refuse('other_client', 'stored_client')} end
if status == REVOKED then ${refuse('revoked')} end
if status == ACTIVE then ${refuse('code_replayed', "''", "redis.call('HGET', KEYS[2], 'request') or ''")} end
if expired == '1' then ${refuse('expired')} end
if stored_replication_id ~= replication_id() then ${refuse('issued_before_failover')} end
if stored_redirect_uri ~= redirect_uri then ${refuse('redirect_uri_mismatch', 'stored_redirect_uri')} end
if stored_jkt ~= '' and stored_jkt ~= jkt then ${refuse('key_mismatch')} end
if stored_challenge == '' and challenge ~= '' then ${refuse('verifier_unexpected')} end
if stored_challenge ~= '' and challenge == '' then ${refuse('verifier_missing')} end
if stored_challenge ~= challenge then ${refuse('verifier_mismatch')} end
if not is_for(stored_resources, resources) then ${refuse('resource_exceeded', 'stored_resources')} end
redis.call('COPY', KEYS[1], KEYS[2], 'REPLACE')
redis.call('HSET', KEYS[2], 'request', request)
redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, 1, ROTATED_AT, now)
set_optional(JKT, jkt)
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'replication_id', 'id_token', 'request')
expire(ttl, ends_at)
stored_jkt, stored_generation, stored_time = jkt, '1', now
${answer("stored_id_token or ''")}
`,
);

/**
 * pending ──► revoked, with the same TTL. Returns 0 if the grant has no unredeemed authorization code of this client; a
 * redeemed code cannot be given back afterwards. A missing key becomes a mark without a status, which stops a
 * concurrent CREATE and expires with the code. An authentic token proves that the code was redeemed and Redis has lost
 * the grant, so the mark does not prevent a restore.
 */
export const VOID_CODE = grantScript(
  ['client', 'ttl'],
  `
local stored_client, redirect_uri = unpack(redis.call('HMGET', KEYS[1], CLIENT, 'redirect_uri'))
redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 and (stored_client ~= client or not redirect_uri) then return 0 end
if stored_client then
  redis.call('HSET', KEYS[1], STATUS, REVOKED)
else
  redis.call('HSET', KEYS[1], 'void', 1)
  redis.call('EXPIRE', KEYS[1], ttl)
end
return 1
`,
);

/** Nothing ──► active, for a client without a user (RFC 6749 4.4). PostgreSQL has no record of it for a restore. */
export const ISSUE = grantScript(
  ['client', 'generation', 'scope', 'resources', 'now', 'ttl'],
  `
redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, generation, CLIENT, client, SCOPE, scope, RESOURCES, resources, ROTATED_AT, now)
redis.call('EXPIRE', KEYS[1], ttl)
`,
);

/** Reads a grant of which a client has presented a token. */
const READ_REDEEMED = `${EXISTS}${readGrant()}
if not exists(status) then status = nil end
`;

/**
 * active ──► active, generation + 1. The generation does not change if the client keeps its refresh token (section
 * 5.3.2.1 of FAPI 2.0); `kept_since` is then the start of the token's generation. The result depends on the token's
 * generation:
 * - The stored generation rotates the token, unless the client keeps it.
 * - The previous generation, within the retry window, returns the current pair again. Using the successor closes the
 *   window.
 * - Any other earlier generation is reuse, for which the caller revokes the grant (RFC 9700 4.14.2). Reuse is checked
 *   before the key, so that a thief cannot hide the reuse with another key or without a key.
 * - A later generation means that Redis has lost writes, perhaps the code exchange, because the token is authentic. The
 *   script treats a later generation as the stored generation.
 *
 * With `request`, the id of the request that rotated the token replaces the retry window: the previous generation gets
 * the current pair again, once, only if the client of that request got an error (`given_up`).
 *
 * A wrong key, scope or resource changes nothing. `key_refusal` is empty if the token accepts the proved key or its
 * absence. `jkt` is the key of the refresh token that a rotation returns; a retry returns the stored key. `jkt` must be
 * the stored key, unless `any_key` is set (the client authenticated with its keys and proved a key, RFC 9449 5) or the
 * grant is still pending (Redis has lost the exchange that bound the grant).
 */
export const REFRESH = grantScript(
  [
    'client',
    'scope',
    'resources',
    'jkt',
    'key_refusal',
    'generation',
    'now',
    'window',
    'ttl',
    'any_key',
    'request',
    'given_up',
    'kept_since',
  ],
  `${SET_OPTIONAL}${EXPIRE}${COVERS}${RETRY}${READ_REDEEMED}
if not status then ${refuse('unknown')} end
if not stored_client then ${refuse('revoked')} end
if stored_client ~= client then ${refuse('other_client', 'stored_client')} end
if status == REVOKED then ${refuse('revoked')} end
local presented, current = tonumber(generation), tonumber(stored_generation)
local repeats_failed = presented == current - 1 and was_given_up()
local is_retry = repeats_failed or presented == current - 1 and in_window(stored_time)
if presented < current and not is_retry then
  local used_by = presented == current - 1 and stored_request() or ''
  ${refuse('refresh_token_reused', 'stored_generation', 'used_by')}
end
if key_refusal ~= '' then return {key_refusal} end
if any_key ~= '1' and stored_jkt ~= jkt and not (stored_jkt == '' and status == PENDING) then
  ${refuse('key_mismatch')}
end
if scope ~= '' and not overlaps(stored_scope, scope) then ${refuse('scope_not_granted', 'stored_scope')} end
if not is_for(stored_resources, resources) then ${refuse('resource_exceeded', 'stored_resources')} end
if not is_retry then
  if not kept_since then
    stored_generation, stored_time = string.format('%d', presented + 1), now
    set_optional('request', request)
  elseif presented > current then
    stored_generation, stored_time = generation, kept_since
    redis.call('HDEL', KEYS[1], 'request')
  end
  redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, stored_generation, ROTATED_AT, stored_time)
  set_optional(JKT, jkt)
  stored_jkt = jkt
  expire(ttl, ends_at)
elseif repeats_failed then
  set_optional('request', request)
end
${answer()}
`,
);

/**
 * Reads a grant for an authentic access or refresh token, whose generation started at `rotated_at`. A later
 * generation moves the state forward, as in REFRESH. Does not compare keys, because the stored key may be newer than
 * the key in the token if the client has keys.
 */
export const INTROSPECT = grantScript(
  ['jkt', 'generation', 'rotated_at', 'ttl'],
  `${SET_OPTIONAL}${EXPIRE}${READ_REDEEMED}
if not status then ${refuse('unknown')} end
if status == REVOKED then ${refuse('revoked')} end
if tonumber(generation) > tonumber(stored_generation) then
  stored_generation, stored_time, stored_jkt = generation, rotated_at, jkt
  redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, stored_generation, ROTATED_AT, stored_time)
  set_optional(JKT, jkt)
  redis.call('HDEL', KEYS[1], 'request')
  expire(ttl, ends_at)
end
${answer()}
`,
);

/**
 * Marks a grant as missing before the caller reads PostgreSQL. Returns the marker, perhaps of an earlier request, or an
 * empty string if the grant exists. If Redis loses data after that read, perhaps a revocation, Redis loses the marker
 * too, and RESTORE does nothing.
 */
export const MARK_MISSING = grantScript(
  ['marker', 'ttl'],
  `${EXISTS}
if exists(redis.call('HGET', KEYS[1], STATUS)) then return '' end
redis.call('HSETNX', KEYS[1], 'missing', marker)
redis.call('EXPIRE', KEYS[1], ttl)
return redis.call('HGET', KEYS[1], 'missing')
`,
);

/** Changes nothing. A marker is the sign of an authentic token, which only a redeemed code can have produced. */
export const REDEMPTION = grantScript(
  [],
  `
local status, marker = unpack(redis.call('HMGET', KEYS[1], STATUS, 'missing'))
if status == ACTIVE then return 'redeemed' end
return (marker or status == PENDING or status == REQUESTED) and 'open' or 'ended'
`,
);

/** Nothing ──► active, if the marker exists and no other request has restored or revoked the grant. */
export const RESTORE = grantScript(
  [
    'client',
    'user',
    'external_id',
    'scope',
    'resources',
    'jkt',
    'generation',
    'rotated_at',
    'marker',
    'ttl',
    'login',
    'ends_at',
  ],
  `${SET_OPTIONAL}${EXPIRE}${EXISTS}
if exists(redis.call('HGET', KEYS[1], STATUS)) or redis.call('HGET', KEYS[1], 'missing') ~= marker then return 0 end
redis.call('HSET', KEYS[1], STATUS, ACTIVE, CLIENT, client, USER, user, SCOPE, scope,
  GENERATION, generation, ROTATED_AT, rotated_at)
set_optional(JKT, jkt)
set_optional(RESOURCES, resources)
set_optional(EXTERNAL_ID, external_id)
set_optional(LOGIN, login)
set_optional(ENDS_AT, ends_at)
redis.call('HDEL', KEYS[1], 'missing', 'void')
expire(ttl, ends_at)
return 1
`,
);

/**
 * Leaves a tombstone with the grant's client. A full Redis rejects HSET but accepts DEL, which suffices: PostgreSQL has
 * either the revocation or no record from which the grant could be restored.
 */
const WRITE_TOMBSTONE = `
local refused = redis.pcall('HSET', KEYS[1], STATUS, REVOKED)
if type(refused) == 'table' and refused.err then
  redis.call('DEL', KEYS[1])
  return refused
end
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'id_token', SCOPE, RESOURCES, EXTERNAL_ID, LOGIN, ENDS_AT, 'missing', 'void')
redis.call('EXPIRE', KEYS[1], ttl)
`;

/** Any state ──► revoked. Returns 0 if already revoked. The tombstone of a missing key stops a concurrent restore. */
export const REVOKE = grantScript(
  ['ttl'],
  `
if redis.call('HGET', KEYS[1], STATUS) == REVOKED then return 0 end
${WRITE_TOMBSTONE}
return 1
`,
);

/** Any state ──► revoked. Returns 0 if Redis does not have the grant or the grant belongs to another client. */
export const REVOKE_OF_CLIENT = grantScript(
  ['client', 'ttl'],
  `
if redis.call('HGET', KEYS[1], CLIENT) ~= client then return 0 end
${WRITE_TOMBSTONE}
return 1
`,
);
