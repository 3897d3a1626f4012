import { FIND } from './find.script.js';

/**
 * KEYS request · ARGV client ttl(s). pushed ──► opened, which gives it a new TTL; opened again it keeps that one, so
 * that no reload makes a request live for ever.
 */
export const OPEN = `${FIND}
if status == 'pushed' then
  redis.call('HSET', KEYS[1], 'status', 'opened')
  redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return {'open', request[3]}
`;
