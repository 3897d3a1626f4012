/**
 * Lua scripts, one per transition of a grant (docs/adr/0003). KEYS[1] is the hash `grant:<id>`: one key and one round trip, also in
 * a Redis Cluster. Each script returns its outcome and, for `active`, the fields of ActiveGrant in the order client, user, scope,
 * generation, rotated_at, jkt, resources, external_id.
 *
 * A pending grant also has redirect_uri, challenge and replication_id. A grant that is being restored has only `missing`.
 */

/**
 * Hash fields of an active grant. Redis stores the names with every grant, so each is one letter. `rotatedAt` is in milliseconds.
 * Without a DPoP key, a resource restriction or an external user id, the grant has no `jkt`, `resources` or `externalId`.
 */
export const FIELD = {
  status: 's',
  client: 'c',
  user: 'u',
  scope: 'o',
  generation: 'g',
  rotatedAt: 't',
  jkt: 'k',
  resources: 'r',
  externalId: 'e',
} as const;

export const STATUS = { pending: 'p', active: 'a', revoked: 'r' } as const;

const NAMES = `
local STATUS, CLIENT, USER, SCOPE = '${FIELD.status}', '${FIELD.client}', '${FIELD.user}', '${FIELD.scope}'
local GENERATION, ROTATED_AT, JKT = '${FIELD.generation}', '${FIELD.rotatedAt}', '${FIELD.jkt}'
local RESOURCES, EXTERNAL_ID = '${FIELD.resources}', '${FIELD.externalId}'
local PENDING, ACTIVE, REVOKED = '${STATUS.pending}', '${STATUS.active}', '${STATUS.revoked}'
`;

/** Skips empty values to save memory. */
const SET_OPTIONAL = `
local function set_optional(field, value)
  if value ~= '' then redis.call('HSET', KEYS[1], field, value) end
end
`;

const BIND = `${SET_OPTIONAL}
local function bind(jkt)
  set_optional(JKT, jkt)
end
`;

/**
 * Id of this Redis's replication history. It changes when a replica is promoted or the server restarts, so an equal id proves that
 * no write has been lost (docs/adr/0009).
 */
const REPLICATION_ID = `
local function replication_id()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
end
`;

/** Checks space-separated words, such as scopes (RFC 6749 3.3). A grant without resources is for every API. */
const COVERS = `
local function covers(granted, requested)
  for word in string.gmatch(requested, '%S+') do
    if not string.find(' ' .. granted .. ' ', ' ' .. word .. ' ', 1, true) then return false end
  end
  return true
end
local function is_for(resources, requested)
  return resources == '' or covers(resources, requested)
end
`;

/**
 * ARGV[1] ttl(s). Leaves a tombstone with the client of the grant. A full Redis rejects HSET but accepts DEL: the revocation is then
 * read from PostgreSQL.
 */
const WRITE_TOMBSTONE = `
local refused = redis.pcall('HSET', KEYS[1], STATUS, REVOKED)
if type(refused) == 'table' and refused.err then
  redis.call('DEL', KEYS[1])
  return refused
end
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', SCOPE, RESOURCES, EXTERNAL_ID, 'missing')
redis.call('EXPIRE', KEYS[1], ARGV[1])
`;

/**
 * ARGV client user scope redirect_uri challenge jkt created_at(ms) ttl(s) resources external_id. Nothing ──► pending, generation 0.
 * Handles are random, so an existing key is a tombstone: the grant was revoked before it reached Redis, and its code is void.
 */
export const CREATE = `${NAMES}${BIND}${REPLICATION_ID}
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('HSET', KEYS[1], STATUS, PENDING, GENERATION, 0, CLIENT, ARGV[1], USER, ARGV[2],
  SCOPE, ARGV[3], 'redirect_uri', ARGV[4], 'challenge', ARGV[5], ROTATED_AT, ARGV[7],
  'replication_id', replication_id())
bind(ARGV[6])
set_optional(RESOURCES, ARGV[9])
set_optional(EXTERNAL_ID, ARGV[10])
redis.call('EXPIRE', KEYS[1], ARGV[8])
`;

/**
 * ARGV client redirect_uri challenge jkt now(ms) expired(0|1) ttl(s) resources. pending ──► active, generation 1.
 *
 * - The client is checked first: another client learns nothing and changes nothing.
 * - RFC 6749 4.1.2: the code of an active grant was used before. The script reports it until the caller has revoked the grant,
 *   which begins in PostgreSQL.
 * - A code issued before a failover is refused: its redemption may have been lost (docs/adr/0009).
 * - Resources are checked last, so that a client that named a wrong one can repeat the request.
 */
export const REDEEM = `${NAMES}${BIND}${REPLICATION_ID}${COVERS}
local grant = redis.call('HMGET', KEYS[1], STATUS, CLIENT, 'redirect_uri', 'challenge', USER, SCOPE, JKT, 'replication_id',
  RESOURCES, EXTERNAL_ID)
local status, client, redirect_uri, challenge, jkt = grant[1], grant[2], grant[3], grant[4], grant[7] or ''
local resources = grant[9] or ''
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == REVOKED then return {'revoked'} end
if status == ACTIVE then return {'code_replayed'} end
if ARGV[6] == '1' then return {'expired'} end
if grant[8] ~= replication_id() then return {'issued_before_failover'} end
if redirect_uri ~= ARGV[2] then return {'redirect_uri_mismatch', redirect_uri} end
if jkt ~= '' and jkt ~= ARGV[4] then return {'key_mismatch'} end
if challenge == '' and ARGV[3] ~= '' then return {'verifier_unexpected'} end
if challenge ~= '' and ARGV[3] == '' then return {'verifier_missing'} end
if challenge ~= ARGV[3] then return {'verifier_mismatch'} end
if not is_for(resources, ARGV[8]) then return {'resource_exceeded', resources} end
redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, 1, ROTATED_AT, ARGV[5])
bind(ARGV[4])
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'replication_id')
redis.call('EXPIRE', KEYS[1], ARGV[7])
return {'active', client, grant[5], grant[6], '1', ARGV[5], ARGV[4], resources, grant[10] or ''}
`;

/**
 * ARGV client generation now(ms) window(ms) ttl(s) jkt key_refusal scope resources. active ──► active, generation + 1.
 *
 * - The stored generation: rotates.
 * - The previous one, inside the retry window: returns the same pair. Using the successor closes the window.
 * - An older one: reuse; the caller revokes (RFC 9700 4.14.2). Checked before the key: otherwise a thief could hide the reuse with
 *   another key, or none.
 * - A later one: the token is authentic, so Redis lost writes, perhaps the code exchange. Treated as the stored one.
 *
 * A wrong key, scope or resource changes nothing. `key_refusal` is empty if the key fits the token. If Redis lost the exchange that
 * binds the grant (the status is pending), the key is taken from the token.
 */
export const REFRESH = `${NAMES}${BIND}${COVERS}
local grant = redis.call('HMGET', KEYS[1], STATUS, CLIENT, USER, SCOPE, GENERATION, ROTATED_AT, JKT, RESOURCES, EXTERNAL_ID)
local status, client, user, scope, generation, rotated_at = grant[1], grant[2], grant[3], grant[4], grant[5], grant[6]
if not status then return {'unknown'} end
if not client then return {'revoked'} end
if client ~= ARGV[1] then return {'other_client', client} end
if status == REVOKED then return {'revoked'} end
local presented, now, window = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local is_older = presented < tonumber(generation)
local is_retry = presented == tonumber(generation) - 1 and window > 0 and now - tonumber(rotated_at) < window
if is_older and not is_retry then return {'refresh_token_reused', generation} end
local jkt, resources = grant[7] or '', grant[8] or ''
if ARGV[7] ~= '' then return {ARGV[7]} end
if jkt ~= ARGV[6] and not (jkt == '' and status == PENDING) then return {'key_mismatch'} end
if not covers(scope, ARGV[8]) then return {'scope_exceeded', scope} end
if not is_for(resources, ARGV[9]) then return {'resource_exceeded', resources} end
if not is_retry then
  generation, rotated_at = string.format('%d', presented + 1), ARGV[3]
  redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, generation, ROTATED_AT, rotated_at)
  bind(ARGV[6])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
end
return {'active', client, user, scope, generation, rotated_at, ARGV[6], resources, grant[9] or ''}
`;

/**
 * ARGV generation issued_at(ms) ttl(s) jkt. Reads a grant for an authentic access or refresh token. A later generation moves the
 * state forward, as in REFRESH. Refuses a token whose key differs from the grant's, also a bearer token of a bound grant. If Redis
 * lost the code exchange (the status is pending), the key is taken from the token.
 */
export const INTROSPECT = `${NAMES}${BIND}
local grant = redis.call('HMGET', KEYS[1], STATUS, CLIENT, USER, SCOPE, GENERATION, ROTATED_AT, JKT, RESOURCES, EXTERNAL_ID)
local generation, rotated_at, jkt = grant[5], grant[6], grant[7] or ''
if not grant[1] then return {'unknown'} end
if grant[1] == REVOKED then return {'revoked'} end
if jkt ~= ARGV[4] and not (jkt == '' and grant[1] == PENDING) then return {'key_mismatch'} end
if tonumber(ARGV[1]) > tonumber(generation) then
  generation, rotated_at = ARGV[1], ARGV[2]
  redis.call('HSET', KEYS[1], STATUS, ACTIVE, GENERATION, generation, ROTATED_AT, rotated_at)
  bind(ARGV[4])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return {'active', grant[2], grant[3], grant[4], generation, rotated_at, ARGV[4], grant[8] or '', grant[9] or ''}
`;

/**
 * ARGV marker ttl(s). Marks a grant as missing before it is read from PostgreSQL. Returns the marker, also one of an earlier request;
 * empty if the grant exists. If Redis loses data after that read, perhaps a revocation, the marker is lost too and RESTORE does nothing.
 */
export const MARK_MISSING = `${NAMES}
if redis.call('HEXISTS', KEYS[1], STATUS) == 1 then return '' end
redis.call('HSETNX', KEYS[1], 'missing', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('HGET', KEYS[1], 'missing')
`;

/**
 * ARGV client user scope generation rotated_at(ms) jkt ttl(s) marker resources external_id. Nothing ──► active, if the marker still
 * exists and the grant does not: another request may have restored it, or it is a tombstone.
 */
export const RESTORE = `${NAMES}${BIND}
if redis.call('HEXISTS', KEYS[1], STATUS) == 1 or redis.call('HGET', KEYS[1], 'missing') ~= ARGV[8] then return 0 end
redis.call('HSET', KEYS[1], STATUS, ACTIVE, CLIENT, ARGV[1], USER, ARGV[2], SCOPE, ARGV[3],
  GENERATION, ARGV[4], ROTATED_AT, ARGV[5])
bind(ARGV[6])
set_optional(RESOURCES, ARGV[9])
set_optional(EXTERNAL_ID, ARGV[10])
redis.call('HDEL', KEYS[1], 'missing')
redis.call('EXPIRE', KEYS[1], ARGV[7])
return 1
`;

/** ARGV ttl(s). Any state ──► revoked; 0 if already revoked. The tombstone of a missing key stops a concurrent restore. */
export const REVOKE = `${NAMES}
if redis.call('HGET', KEYS[1], STATUS) == REVOKED then return 0 end
${WRITE_TOMBSTONE}
return 1
`;

/** ARGV ttl(s) client. Any state ──► revoked; 0 unless Redis has the grant of this client. */
export const REVOKE_OF_CLIENT = `${NAMES}
if redis.call('HGET', KEYS[1], CLIENT) ~= ARGV[2] then return 0 end
${WRITE_TOMBSTONE}
return 1
`;
