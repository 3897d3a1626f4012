/**
 * KEYS grant · ARGV client user scope generation rotated_at(ms) jkt ttl(s) note. Puts back a grant that Redis has
 * lost, if the note of its loss is still there. A grant that stands there by now wins: it is another restore, or a
 * revocation's tombstone.
 */
export const RESTORE = `
if redis.call('HEXISTS', KEYS[1], 'status') == 1 or redis.call('HGET', KEYS[1], 'missing') ~= ARGV[8] then return 0 end
redis.call('HSET', KEYS[1], 'status', 'active', 'client', ARGV[1], 'user', ARGV[2], 'scope', ARGV[3],
  'generation', ARGV[4], 'rotated_at', ARGV[5], 'jkt', ARGV[6])
redis.call('HDEL', KEYS[1], 'missing')
redis.call('EXPIRE', KEYS[1], ARGV[7])
return 1
`;
