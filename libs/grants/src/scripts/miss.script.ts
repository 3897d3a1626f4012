/**
 * KEYS grant · ARGV note ttl(s). Leaves a note that Redis does not have this grant, or finds the one that is left
 * already; empty when the grant is there. Whoever restores shows the note: had Redis lost something after PostgreSQL
 * was asked, it may have been a revocation, and the note is lost with it.
 */
export const MISS = `
if redis.call('HEXISTS', KEYS[1], 'status') == 1 then return '' end
redis.call('HSETNX', KEYS[1], 'missing', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('HGET', KEYS[1], 'missing')
`;
