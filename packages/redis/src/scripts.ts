import { createHash } from "node:crypto";

/** A Lua script, with the digest under which Redis caches it. */
export interface Script {
  /** The Lua source. */
  readonly source: string;
  /** SHA-1 of the source, in hexadecimal. */
  readonly digest: string;
  /** Number of keys the script receives. */
  readonly keys: number;
  /** True if running the script twice has the same effect as running it once. */
  readonly idempotent: boolean;
}

function script(keys: number, source: string, idempotent = false): Script {
  return { source, digest: createHash("sha1").update(source).digest("hex"), keys, idempotent };
}

/** The server's clock in microseconds. Fits a double until the year 2255; `%.0f` formats it in full. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]`;

/**
 * Stores a value: its version in 16 digits, followed by its text. ARGV: text, lifetime in ms or '', expected version or
 * '', lowest version that the caller knows to be unused. If Redis is full, the script fails at its first write and
 * changes nothing.
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

/** Deletes a value if its version matches. ARGV: expected version. */
export const deleteValue: Script = script(
  1,
  `if tonumber(redis.call('GETRANGE', KEYS[1], 0, 15)) ~= tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])`,
);

/**
 * State of a stream, as eight doubles in one string: id of the `first` entry ever appended, even if it has been
 * dropped, id of the last `lost` entry (0: none), id of the `newest` entry, number of entries `kept`, their `bytes`,
 * expiry of the `oldest` and of the newest entry (`ends`), and `mixed`, which is 1 once an entry was appended that
 * expires before an older one. `forget` drops expired entries and those beyond the limits.
 */
const FIGURES = `
local first, lost, newest, kept, bytes, oldest, ends, mixed
local packed = redis.call('GET', KEYS[2])
if packed then first, lost, newest, kept, bytes, oldest, ends, mixed = struct.unpack('dddddddd', packed) end
local function figures() return struct.pack('dddddddd', first, lost, newest, kept, bytes, oldest, ends, mixed) end
local function digits(number) return string.format('%.0f', number) end
local function forget(most_entries, most_bytes)
  local old_until = 0
  if mixed == 1 then
    local all = redis.call('XREVRANGE', KEYS[1], '+', '-')
    for at = 1, #all do
      if tonumber(all[at][2][4]) <= now then
        old_until = tonumber(string.match(all[at][1], '%d+'))
        break
      end
    end
  end
  local last
  local page = 2
  while kept > 0 do
    local found = redis.call('XRANGE', KEYS[1], last and '(' .. last or '-', '+', 'COUNT', page)
    if #found == 0 then break end
    for at = 1, #found do
      local id, age = tonumber(string.match(found[at][1], '%d+')), tonumber(found[at][2][4])
      local goes = age <= now or id <= old_until or (id ~= newest and (kept > most_entries or bytes > most_bytes))
      if not goes then
        oldest = age
        if last then redis.call('XTRIM', KEYS[1], 'MINID', found[at][1]) end
        return
      end
      last = found[at][1]
      lost, kept, bytes = id, kept - 1, bytes - #found[at][2][2]
    end
    page = 16
  end
  oldest = ends
  if last then redis.call('XTRIM', KEYS[1], 'MAXLEN', 0) end
end`;

/**
 * Appends an entry. ARGV: entry, maximum entries, maximum bytes, maximum age in ms, lifetime in ms or '', lowest unused
 * id.
 */
export const appendEntry: Script = script(
  2,
  `${NOW}${FIGURES}
local id = math.max(now, tonumber(ARGV[6]), newest and newest + 1 or 0)
local too_old = now + tonumber(ARGV[4]) * 1000
redis.call('XADD', KEYS[1], digits(id) .. '-0', 'e', ARGV[1], 'x', digits(too_old))
if not first then first, lost, kept, bytes, oldest, ends, mixed = id, 0, 0, 0, too_old, too_old, 0 end
if too_old < ends then mixed = 1 end
newest, kept, bytes, ends = id, kept + 1, bytes + #ARGV[1], too_old
local most_entries, most_bytes = tonumber(ARGV[2]), tonumber(ARGV[3])
if kept > most_entries or bytes > most_bytes or oldest <= now or mixed == 1 then forget(most_entries, most_bytes) end
if ARGV[5] == '' then
  redis.call('SET', KEYS[2], figures())
  redis.call('PERSIST', KEYS[1])
elseif tonumber(ARGV[5]) > 0 then
  redis.call('SET', KEYS[2], figures(), 'PX', ARGV[5])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
else
  redis.call('DEL', KEYS[1], KEYS[2])
end
return id`,
);

/**
 * Reads entries. ARGV: the id to read after, maximum entries. Returns alternating ids and entries. Returns nil if
 * entries after that id have been dropped, or if the id is outside the ids of the stream.
 */
export const readEntries: Script = script(
  2,
  `${NOW}${FIGURES}
local after = tonumber(ARGV[1])
if not first then
  if after == 0 then return {} end
  return false
end
if kept > 0 and (mixed == 1 or oldest <= now) then
  local before = kept
  forget(kept, bytes)
  if kept < before then redis.call('SET', KEYS[2], figures(), 'KEEPTTL') end
end
if after < lost or after > newest or (after > 0 and after < first) then return false end
if after == newest or ARGV[2] == '0' then return {} end
local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])
if #found == 0 then return false end
local reply = {}
for at = 1, #found do
  reply[at * 2 - 1] = string.match(found[at][1], '%d+')
  reply[at * 2] = found[at][2][2]
end
return reply`,
  true,
);

/** Renews the lifetime of a stream. ARGV: lifetime in ms. */
export const touchStream: Script = script(
  2,
  `redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[2], ARGV[1])`,
  true,
);

export const ALL_SCRIPTS: readonly Script[] = [setValue, deleteValue, appendEntry, readEntries, touchStream];
