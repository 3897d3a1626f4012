/** KEYS grant · ARGV client user scope redirect_uri challenge created_at ttl(s). A fresh code: pending, generation 0. */
export const CREATE = `
redis.call('HSET', KEYS[1], 'status', 'pending', 'generation', 0, 'client', ARGV[1], 'user', ARGV[2],
  'scope', ARGV[3], 'redirect_uri', ARGV[4], 'challenge', ARGV[5], 'rotated_at', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[7])
`;
