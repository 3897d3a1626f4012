/** KEYS grant · ARGV client user scope redirect_uri challenge jkt created_at ttl(s). A fresh code: pending, generation 0. */
export const CREATE = `
redis.call('HSET', KEYS[1], 'status', 'pending', 'generation', 0, 'client', ARGV[1], 'user', ARGV[2],
  'scope', ARGV[3], 'redirect_uri', ARGV[4], 'challenge', ARGV[5], 'jkt', ARGV[6], 'rotated_at', ARGV[7])
redis.call('EXPIRE', KEYS[1], ARGV[8])
`;
