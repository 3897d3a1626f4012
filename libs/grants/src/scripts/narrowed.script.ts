/**
 * Lua functions over the hash field `narrowed`: one line `generation expiry(ms) scope` for each access token that is
 * alive and whose scope is narrower than its grant's (RFC 6749 6). At most 50, so that the field stays small; a token
 * whose line is gone is refused, and a refresh gives another.
 */
export const NARROWED = `
local function narrowed_to(lines, generation)
  for of, scope in string.gmatch(lines or '', '(%d+) %d+ ([^\\n]+)\\n') do
    if of == generation then return scope end
  end
  return ''
end
local function still_narrowed(lines, now)
  local kept = {}
  for of, expiry, scope in string.gmatch(lines or '', '(%d+) (%d+) ([^\\n]+)\\n') do
    if tonumber(expiry) > now then kept[#kept + 1] = of .. ' ' .. expiry .. ' ' .. scope .. '\\n' end
  end
  return table.concat(kept, '', math.max(1, #kept - 48))
end
local function covers(scope, wanted)
  for word in string.gmatch(wanted, '%S+') do
    if not string.find(' ' .. scope .. ' ', ' ' .. word .. ' ', 1, true) then return false end
  end
  return true
end
`;
