/**
 * Lua that tells which history of writes this Redis is on: a promoted replica, and a server that was started again, has
 * a new one. Whoever finds the history that a code was issued on knows that nothing that happened to it was lost.
 */
export const HISTORY = `
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
end
`;
