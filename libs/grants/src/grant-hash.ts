import { type Script, script } from '#platform/redis/redis-client.js';
import type { RefusalReason } from './grant.js';

/**
 * Fields of an active grant. Redis stores the names with every grant, so each name is one letter. The fields `jkt`,
 * `resources`, `externalId`, `login` (only with the scope `openid`), `endsAt` and `user` (not for `client_credentials`)
 * are optional. Grants in other states have other fields, such as `missing` during a restore.
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
  endsAt: 'x',
} as const;

export const STATUS = { requested: 'd', pending: 'p', active: 'a', revoked: 'r' } as const;

const NAMES = `
local STATUS, CLIENT, USER, SCOPE = '${FIELD.status}', '${FIELD.client}', '${FIELD.user}', '${FIELD.scope}'
local GENERATION, ROTATED_AT, JKT = '${FIELD.generation}', '${FIELD.rotatedAt}', '${FIELD.jkt}'
local RESOURCES, EXTERNAL_ID, LOGIN, ENDS_AT = '${FIELD.resources}', '${FIELD.externalId}', '${FIELD.login}', '${FIELD.endsAt}'
local REQUESTED, PENDING, ACTIVE, REVOKED = '${STATUS.requested}', '${STATUS.pending}', '${STATUS.active}', '${STATUS.revoked}'
`;

/**
 * Defines a script for KEYS[1], the hash of a grant. Arguments that are rarely set come last, because trailing nulls
 * are not sent. `now`, `rotated_at`, `kept_since`, `ends_at` and `window` are in milliseconds, and `ttl` is in seconds.
 * `expired` is 0 or 1, and `any_key` is 1 or empty.
 */
export function grantScript<const Name extends string>(names: readonly Name[], lua: string): Script<Name> {
  return script(names, `${NAMES}${lua}`);
}

/** Fields of a grant that every transition reads, by the name of the Lua local, in the order of ActiveReply. */
const LOCALS = {
  status: FIELD.status,
  stored_client: FIELD.client,
  user: FIELD.user,
  external_id: FIELD.externalId,
  stored_scope: FIELD.scope,
  stored_resources: FIELD.resources,
  stored_jkt: FIELD.jkt,
  stored_generation: FIELD.generation,
  stored_time: FIELD.rotatedAt,
  login: FIELD.login,
  ends_at: FIELD.endsAt,
} as const;

/**
 * Lua that reads the fields of a grant into locals.
 * @param more further fields, whose locals have the prefix `stored_`
 */
export function readGrant(...more: readonly string[]): string {
  const locals = [...Object.keys(LOCALS), ...more.map((field) => `stored_${field}`)];
  const fields = [...Object.values(LOCALS), ...more].map((field) => `'${field}'`);
  return `
local ${locals.join(', ')} = unpack(redis.call('HMGET', KEYS[1], ${fields.join(', ')}))
external_id, stored_resources = external_id or '', stored_resources or ''
stored_jkt, login, ends_at = stored_jkt or '', login or '', ends_at or ''
`;
}

/**
 * Lua that returns the locals of `readGrant` as an `ActiveReply`.
 * @param values Lua expressions of the further elements
 */
export function answer(...values: readonly string[]): string {
  const { status: _status, ...locals } = LOCALS;
  return `return {${["'active'", ...Object.keys(locals), ...values].join(', ')}}`;
}

/** Lua that returns a `RefusedReply`. @param values Lua expressions of the further elements */
export function refuse(reason: RefusalReason, ...values: readonly string[]): string {
  return `return {${[`'${reason}'`, ...values].join(', ')}}`;
}

/** Elements in the order of LOCALS. An optional field that is missing is empty. */
export type ActiveReply = readonly [
  outcome: 'active',
  clientId: string,
  userId: string | null,
  externalId: string,
  scope: string,
  resources: string,
  jkt: string,
  generation: string,
  rotatedAt: string,
  login: string,
  endsAt: string,
  idToken?: string,
];

/** `expected` is the value of the grant, and `usedBy` the id of the request that used the code or token. */
export type RefusedReply = readonly [outcome: RefusalReason, expected?: string, usedBy?: string];

/** Skips empty values to save memory. */
export const SET_OPTIONAL = `
local function set_optional(field, value)
  if value and value ~= '' then redis.call('HSET', KEYS[1], field, value) end
end
`;

/** Sets the TTL. A grant with an end expires a minute after the end, because clocks may differ. */
export const EXPIRE = `
local function expire(ttl, ends_at)
  if ends_at and ends_at ~= '' then
    ttl = math.max(1, math.min(ttl, math.ceil(ends_at / 1000) - redis.call('TIME')[1] + 60))
  end
  redis.call('EXPIRE', KEYS[1], ttl)
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
 * Decides whether the last transition can be repeated: within the retry window, or once if the client of the request
 * got an error. The scripts have `now`, `window` and `given_up`.
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
