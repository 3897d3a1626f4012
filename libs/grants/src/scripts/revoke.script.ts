/**
 * KEYS grant · ARGV ttl(s). What stays of a grant that is over, and whose it was. A Redis that is full refuses it, but
 * deletes: what it does not have is asked of PostgreSQL, where the grant is over.
 */
const TOMBSTONE = `
local refused = redis.pcall('HSET', KEYS[1], 'status', 'revoked')
if type(refused) == 'table' and refused.err then
  redis.call('DEL', KEYS[1])
  return refused
end
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'scope', 'missing')
redis.call('EXPIRE', KEYS[1], ARGV[1])
`;

/**
 * KEYS grant · ARGV ttl(s). Any state ──► revoked; 0 when it was revoked before. Written even where the key is missing:
 * the tombstone stops a restore that read PostgreSQL just before the revocation.
 */
export const REVOKE = `
if redis.call('HGET', KEYS[1], 'status') == 'revoked' then return 0 end
${TOMBSTONE}
return 1
`;

/** KEYS grant · ARGV ttl(s) client. Revokes a grant if it is known here as this client's; 0 when it is not. */
export const REVOKE_OF = `
if redis.call('HGET', KEYS[1], 'client') ~= ARGV[2] then return 0 end
${TOMBSTONE}
return 1
`;
