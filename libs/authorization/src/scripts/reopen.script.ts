/** KEYS request. answered ──► opened, for the TTL that is left; a key that is gone stays gone. */
export const REOPEN = `
if redis.call('HGET', KEYS[1], 'status') == 'answered' then redis.call('HSET', KEYS[1], 'status', 'opened') end
`;
