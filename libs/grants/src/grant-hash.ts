import { type Script, script } from '#platform/redis/redis-client.js';

/**
 * Fields of an active grant. Redis stores the names with every grant, so each name is one letter. The fields `jkt`,
 * `resources`, `externalId`, `login` (only with the scope `openid`) and `user` (not for `client_credentials`) are
 * optional. Grants in other states have other fields, such as `missing` during a restore.
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
  login: 'l',
} as const;

export const STATUS = { requested: 'd', pending: 'p', active: 'a', revoked: 'r' } as const;

const NAMES = `
local STATUS, CLIENT, USER, SCOPE = '${FIELD.status}', '${FIELD.client}', '${FIELD.user}', '${FIELD.scope}'
local GENERATION, ROTATED_AT, JKT = '${FIELD.generation}', '${FIELD.rotatedAt}', '${FIELD.jkt}'
local RESOURCES, EXTERNAL_ID, LOGIN = '${FIELD.resources}', '${FIELD.externalId}', '${FIELD.login}'
local REQUESTED, PENDING, ACTIVE, REVOKED = '${STATUS.requested}', '${STATUS.pending}', '${STATUS.active}', '${STATUS.revoked}'
`;

/**
 * Defines a script for KEYS[1], the hash of a grant. Arguments that are rarely set come last, because trailing nulls
 * are not sent. `now`, `rotated_at`, `kept_since` and `window` are in milliseconds, and `ttl` is in seconds. `expired`
 * is 0 or 1, and `any_key` is 1 or empty.
 */
export function grantScript<const Name extends string>(names: readonly Name[], lua: string): Script<Name> {
  return script(names, `${NAMES}${lua}`);
}

/** Skips empty values to save memory. */
export const SET_OPTIONAL = `
local function set_optional(field, value)
  if value and value ~= '' then redis.call('HSET', KEYS[1], field, value) end
end
`;

/**
 * Returns false for a requested grant. If a client presents an authentic token of such a grant, Redis has lost the code
 * exchange, so the grant must be restored.
 */
export const EXISTS = `
local function exists(stored)
  return stored and stored ~= REQUESTED
end
`;

/**
 * Returns an id that changes at a failover or restart. An equal id proves that no write was lost
 * (docs/adr/0009-fail-over.md).
 */
export const REPLICATION_ID = `
local function replication_id()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
end
`;

/**
 * Decides whether the last transition can be repeated: within the retry window, or once if the client of the request got
 * an error. The scripts have `now`, `window` and `given_up`.
 */
export const RETRY = `
local function stored_request()
  return redis.call('HGET', KEYS[1], 'request') or ''
end
local function was_given_up()
  return given_up and given_up ~= '' and stored_request() == given_up
end
local function in_window(stored_time)
  return tonumber(window) > 0 and tonumber(now) - tonumber(stored_time) < tonumber(window)
end
`;

/** Compares space-separated words, such as scopes (RFC 6749 3.3). A grant without resources covers every API. */
export const COVERS = `
local function has(words, word)
  return string.find(' ' .. words .. ' ', ' ' .. word .. ' ', 1, true)
end
local function covers(granted, requested)
  for word in string.gmatch(requested, '%S+') do
    if not has(granted, word) then return false end
  end
  return true
end
local function overlaps(granted, requested)
  for word in string.gmatch(requested, '%S+') do
    if has(granted, word) then return true end
  end
  return false
end
local function is_for(resources, requested)
  return resources == '' or covers(resources, requested)
end
`;
