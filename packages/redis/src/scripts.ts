import { createHash } from "node:crypto";

/** A Lua script with the digest by which Redis knows it once it was loaded. */
export interface Script {
  readonly source: string;
  readonly digest: string;
  readonly keys: number;
  /** Whether running it twice does no more than running it once. */
  readonly repeats: boolean;
}

function script(keys: number, source: string, repeats = false): Script {
  return { source, digest: createHash("sha1").update(source).digest("hex"), keys, repeats };
}

/** Microseconds of the server's clock fit a double until the year 2255; `%.0f` writes them in full. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]`;

/**
 * A value is its version in 16 digits and its text. ARGV: text, lifetime in ms or '', expected version or '', lowest version
 * that is free as far as the caller knows. The first write is the one that a full Redis refuses.
 */
export const setValue: Script = script(
  1,
  `${NOW}
local head = redis.call('GETRANGE', KEYS[1], 0, 15)
local last = tonumber(head) or 0
if ARGV[3] ~= '' and tonumber(ARGV[3]) ~= last then return false end
local version = math.max(now, last + 1, tonumber(ARGV[4]))
if ARGV[2] == '' then
  redis.call('SET', KEYS[1], string.format('%016.0f', version) .. ARGV[1])
elseif tonumber(ARGV[2]) > 0 then
  redis.call('SET', KEYS[1], string.format('%016.0f', version) .. ARGV[1], 'PX', ARGV[2])
else
  redis.call('DEL', KEYS[1])
end
return version`,
);

/** ARGV: expected version. */
export const deleteValue: Script = script(
  1,
  `if tonumber(redis.call('GETRANGE', KEYS[1], 0, 15)) ~= tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])`,
);

/**
 * Figures of a stream: `f` its first id, `l` the last id that is lost (0: none), `n` its newest id, `k` the entries kept,
 * `b` their bytes, `o` when the oldest is too old, `x` when the newest is, `m` whether ages were ever not in the order of
 * the entries. `forget` loses what is too old, or what exceeds the bounds.
 */
const FORGET = `
local function forget(f, entries, bytes)
  local page = 1
  if f.m then
    local all = redis.call('XREVRANGE', KEYS[1], '+', '-')
    for at = 1, #all do
      if tonumber(all[at][2][4]) <= now then f.until_id = tonumber(string.match(all[at][1], '%d+')) break end
    end
  end
  local lost
  while f.k > 0 do
    local oldest = redis.call('XRANGE', KEYS[1], lost and '(' .. lost or '-', '+', 'COUNT', page)
    if #oldest == 0 then break end
    for at = 1, #oldest do
      local id = tonumber(string.match(oldest[at][1], '%d+'))
      local age = tonumber(oldest[at][2][4])
      local old = age <= now or (f.until_id and id <= f.until_id)
      if not (old or (id ~= f.n and (f.k > entries or f.b > bytes))) then
        f.o = age
        if lost then redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f', id)) end
        return
      end
      lost = oldest[at][1]
      f.l, f.k, f.b = id, f.k - 1, f.b - #oldest[at][2][2]
    end
    page = 32
  end
  f.o = f.x
  if lost then redis.call('XTRIM', KEYS[1], 'MAXLEN', 0) end
end
local function figures()
  local h = redis.call('HMGET', KEYS[2], 'f', 'l', 'n', 'k', 'b', 'o', 'x', 'm')
  if not h[1] then return nil end
  return { f = tonumber(h[1]), l = tonumber(h[2]), n = tonumber(h[3]), k = tonumber(h[4]), b = tonumber(h[5]),
    o = tonumber(h[6]), x = tonumber(h[7]), m = h[8] == '1' }
end
local function number(value) return string.format('%.0f', value) end
local function keep(f)
  redis.call('HSET', KEYS[2], 'f', number(f.f), 'l', number(f.l), 'n', number(f.n), 'k', f.k, 'b', number(f.b),
    'o', number(f.o), 'x', number(f.x), 'm', f.m and '1' or '0')
end`;

/** ARGV: entry, most entries, most bytes, greatest age in ms, lifetime in ms or '', lowest id that is free. */
export const appendEntry: Script = script(
  2,
  `${NOW}${FORGET}
local f = figures()
local id = math.max(now, tonumber(ARGV[6]), f and f.n + 1 or 0)
local too_old = now + tonumber(ARGV[4]) * 1000
redis.call('XADD', KEYS[1], number(id) .. '-0', 'e', ARGV[1], 'x', number(too_old))
if not f then f = { f = id, l = 0, k = 0, b = 0, o = too_old, x = too_old, m = false } end
f.m = f.m or too_old < f.x
f.n, f.k, f.b, f.x = id, f.k + 1, f.b + #ARGV[1], too_old
if f.k > tonumber(ARGV[2]) or f.b > tonumber(ARGV[3]) or f.o <= now or f.m then
  forget(f, tonumber(ARGV[2]), tonumber(ARGV[3]))
end
keep(f)
if ARGV[5] == '' then
  redis.call('PERSIST', KEYS[1])
  redis.call('PERSIST', KEYS[2])
elseif tonumber(ARGV[5]) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
else
  redis.call('DEL', KEYS[1], KEYS[2])
end
return id`,
);

/** ARGV: the id to read after, most entries. Returns ids and entries in turn, or nothing when entries are missing. */
export const readEntries: Script = script(
  2,
  `${NOW}${FORGET}
local after, f = tonumber(ARGV[1]), figures()
if not f then
  if after == 0 then return {} end
  return false
end
if f.k > 0 and (f.m or f.o <= now) then
  forget(f, f.k, f.b)
  keep(f)
end
if after < f.l or after > f.n or (after > 0 and after < f.f) then return false end
if after == f.n or ARGV[2] == '0' then return {} end
local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])
local reply = {}
for at = 1, #found do
  reply[at * 2 - 1] = string.match(found[at][1], '%d+')
  reply[at * 2] = found[at][2][2]
end
return reply`,
  true,
);

/** ARGV: lifetime in ms. */
export const touchStream: Script = script(
  2,
  `redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[2], ARGV[1])`,
  true,
);

export const ALL_SCRIPTS: readonly Script[] = [setValue, deleteValue, appendEntry, readEntries, touchStream];
