/**
 * KEYS grant · ARGV ttl(s). Any state ──► revoked. Written even where the key is missing: the tombstone
 * stops a restore that read PostgreSQL just before the revocation.
 */
export const REVOKE = `
redis.call('HSET', KEYS[1], 'status', 'revoked')
redis.call('HDEL', KEYS[1], 'redirect_uri', 'challenge', 'scope', 'missing')
redis.call('EXPIRE', KEYS[1], ARGV[1])
`;
