/** KEYS request · ARGV client parameters ttl(s). Nothing ──► pushed. */
export const PUSH = `
redis.call('HSET', KEYS[1], 'status', 'pushed', 'client', ARGV[1], 'parameters', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
`;
