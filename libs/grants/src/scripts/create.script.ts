import { HISTORY } from './history.script.js';

/**
 * KEYS grant · ARGV client user scope redirect_uri challenge jkt created_at ttl(s). A fresh code: pending, generation 0.
 * Handles are random, so that what stands there can only be a tombstone: the user revoked the grant, or the operator
 * deleted its client, after PostgreSQL had it and before it came here. Then the code is worth nothing.
 */
export const CREATE = `${HISTORY}
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('HSET', KEYS[1], 'status', 'pending', 'generation', 0, 'client', ARGV[1], 'user', ARGV[2],
  'scope', ARGV[3], 'redirect_uri', ARGV[4], 'challenge', ARGV[5], 'jkt', ARGV[6], 'rotated_at', ARGV[7],
  'history', history())
redis.call('EXPIRE', KEYS[1], ARGV[8])
`;
