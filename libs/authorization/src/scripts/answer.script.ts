import { FIND } from './find.script.js';

/**
 * KEYS request · ARGV client. pushed or opened ──► answered. The key stays until its TTL ends, so that who comes
 * later can be told that it was answered.
 */
export const ANSWER = `${FIND}
redis.call('HSET', KEYS[1], 'status', 'answered')
return {'open', request[3]}
`;
