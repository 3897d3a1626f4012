/**
 * Lua that begins the scripts of an existing request, with the client as ARGV[1]: what is missing, of another client
 * or answered already ends the script and changes nothing.
 */
export const FIND = `
local request = redis.call('HMGET', KEYS[1], 'status', 'client', 'parameters')
local status = request[1]
if not status then return {'unknown'} end
if request[2] ~= ARGV[1] then return {'other_client'} end
if status == 'answered' then return {'answered'} end
`;
