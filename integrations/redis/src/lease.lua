-- One ask of a client: it gives back what it does not need, and is granted a ration.
--
-- A limit is a number of permits in each run of `buckets` buckets, by this engine's clock. A ration
-- that is granted in bucket b counts there, and may be used in b and b + 1. So the ledger keeps the
-- sum of `buckets + 1` counts within the limit: what is used in any run of `buckets` buckets was
-- granted in those, or in the one before.
--
-- All reads come before the first write. A foreign value, or a ledger of another geometry, is an
-- error that changes nothing.
--
-- KEYS  1 the ledger, a hash that expires when all in it has left:
--           born       the epoch in which it began: any other epoch voids the ledger
--           newest     the newest bucket; bucket b is counted in field b % (buckets + 1)
--           asks, want      clients that asked in the newest bucket, and the sum of their wishes
--           asks1, want1    the same of the bucket before it
--           n, len     the geometry: buckets of an interval, microseconds of a bucket
--           0 to n     the counts; a missing one is zero
--           CLIENT     the last answer to a client: number, granted, bucket
--       2 the epoch of the engine's memory, a hash that does not expire:
--           run        the id of the engine's run
--           born       the moment of the epoch's birth, by which the epoch is known: a clock that
--                      fell back shows the bucket numbers of earlier epochs again
--           since      the first bucket with grants
--           v, limit   the version of the limit, and the limit
-- ARGV  1 client, 8 bytes        2 number of the ask       3 wanted           4 needed at least
--       5 given back             6 bucket of its grant     7 epoch of it      8 limit
--       9 version of the limit  10 length of a bucket     11 buckets of an interval
-- Returns { state, granted, bucket, age of the bucket, left, limit, version, clients, wait, epoch }.
--       state   0 answered, 1 cold: no grants yet in this epoch, 2 overtaken by a later ask
--       wait    microseconds until what is needed has left the ledger, -1 never

local client = ARGV[1]
local number, want, need = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local back, of, token = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local limit, version = tonumber(ARGV[8]), tonumber(ARGV[9])
local len, n = tonumber(ARGV[10]), tonumber(ARGV[11])
local places = n + 1
local keep = n + 4 -- buckets for which a ledger and its answers are kept

-- Reads -----------------------------------------------------------------------------------------

local names = { 'born', 'newest', 'asks', 'asks1', 'want', 'want1', 'n', 'len', client }
for place = 0, n do names[10 + place] = place end
local ledger = redis.call('HMGET', KEYS[1], unpack(names))
local size = redis.call('HLEN', KEYS[1])
local epoch = redis.call('HMGET', KEYS[2], 'run', 'born', 'since', 'v', 'limit')
local time = redis.call('TIME')
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')

-- A number up to 10^16 in digits; the default where there is no text; else nil.
local function numeral(text, default)
  if not text then return default end
  return #text <= 16 and string.find(text, '^%d+$') and tonumber(text) or nil
end
local function foreign(what) return redis.error_reply('FOREIGN the key is no ' .. what .. ' of a limit') end

local born, since = numeral(epoch[2], -1), numeral(epoch[3], -1)
local known, agreed = numeral(epoch[4], -1), numeral(epoch[5], -1)
if not (born and since and known and agreed) then return foreign('epoch') end
if size > 0 and not ledger[1] then return foreign('ledger') end
local head, counts = {}, {}
for i = 1, 8 do
  head[i] = numeral(ledger[i], 0)
  if not head[i] then return foreign('ledger') end
end
for place = 0, n do
  counts[place] = numeral(ledger[10 + place], 0)
  if not counts[place] then return foreign('ledger') end
end
if size > 0 and (head[7] ~= n or head[8] ~= len) then
  return redis.error_reply('GEOMETRY the ledger has other buckets')
end
local last, last_granted, last_bucket
if ledger[9] then
  last, last_granted, last_bucket = string.match(ledger[9], '^(%d+) (%d+) (%d+)$')
  last, last_granted, last_bucket = numeral(last), numeral(last_granted), numeral(last_bucket)
  if not (last and last_granted and last_bucket) then return foreign('ledger') end
end

-- The epoch -------------------------------------------------------------------------------------
-- Memory is lost with another run of the engine, and with the key. A clock that fell back by more
-- than a ledger holds would let grants leave too late, or too early. After each of them nothing is
-- granted until all that an earlier epoch has granted is used up, and has left the interval.

local now = time[1] * 1000000 + time[2]
local bucket = math.floor(now / len)
local begins = epoch[1] ~= run or since > bucket + n + 2
  or (head[1] == born and head[2] > bucket + n + 2)
if begins then born, since = now, bucket + n + 2 end
if known >= version then version, limit = known, agreed end
local is_void = head[1] ~= born -- also if there is none

local function digits(x) return string.format('%d', x) end -- Lua's own would round a long one
local function write_epoch()
  if begins then
    redis.call('HSET', KEYS[2], 'run', run, 'born', digits(born), 'since', digits(since))
  end
  if known < version then
    redis.call('HSET', KEYS[2], 'v', digits(version), 'limit', digits(limit))
  end
end
if bucket < since then
  write_epoch()
  return { 1, 0, bucket, 0, 0, limit, version, 0, since * len - now, born }
end

-- A repetition gets the same answer. An ask that a later one has overtaken gets nothing: what it
-- gave back was given back, or is lost. The age of the answer's bucket is counted to the newest one
-- at least: by a clock that fell back alone, permits would be used when their bucket has left.

if is_void or last and last_bucket + keep < bucket then last = nil end
if last and last >= number then
  if last > number then return { 2, 0, bucket, 0, 0, limit, version, 0, 0, born } end
  local age = math.max(now, head[2] * len) - last_bucket * len
  return { 0, last_granted, last_bucket, age, 0, limit, version, 0, 0, born }
end

-- The ledger at the present bucket --------------------------------------------------------------

if is_void then
  head = { born, bucket, 0, 0, 0, 0, n, len }
  for place = 0, n do counts[place] = 0 end
end
local newest = head[2]
bucket = math.max(bucket, newest) -- a clock that fell back by less stands still
local touched = {}
if bucket > newest then
  for b = newest + 1, math.min(bucket, newest + places) do
    counts[b % places] = 0
    touched[b % places] = true
  end
  local is_next = bucket == newest + 1
  head[4], head[6] = is_next and head[3] or 0, is_next and head[5] or 0
  head[2], head[3], head[5] = bucket, 0, 0
end

-- Answers to clients that have gone, a thousand at once: only where there are more than are asking.
local gone = {}
if bucket > newest and size > 9 + places + 16 + 2 * head[4] then
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local b = #all[i] == 8 and all[i] ~= client and string.match(all[i + 1], '^%d+ %d+ (%d+)$')
    if b and tonumber(b) + keep < bucket and #gone < 1000 then gone[#gone + 1] = all[i] end
  end
end

-- What is given back and granted ----------------------------------------------------------------

if back > 0 and token == born and of <= bucket and of + n >= bucket then
  counts[of % places] = math.max(0, counts[of % places] - back)
  touched[of % places] = true
end
if want > 0 and not (last and last_bucket == bucket) then
  head[3], head[5] = head[3] + 1, head[5] + want
end
local used = 0
for place = 0, n do used = used + counts[place] end
local left = math.max(0, limit - used)
local granted, wait = 0, 0
if want > 0 and left >= need then
  -- The wish, or its part of what is left: by the wishes that this bucket still expects.
  local expected = math.max(want, head[6] - head[5] + want)
  granted = math.min(want, left, math.max(need, math.floor(left * want / expected)))
  counts[bucket % places] = counts[bucket % places] + granted
  touched[bucket % places] = true
elseif want > 0 and need > limit then
  wait = -1
elseif want > 0 then
  local first = bucket - n
  while limit - used < need do
    used = used - counts[first % places]
    first = first + 1
  end
  wait = (first + n) * len - now
end

-- Writes ----------------------------------------------------------------------------------------

write_epoch()
if is_void then redis.call('DEL', KEYS[1]) end
local set = { client, digits(number) .. ' ' .. digits(granted) .. ' ' .. digits(bucket) }
for i = 1, 8 do
  if is_void or digits(head[i]) ~= ledger[i] then
    set[#set + 1] = names[i]
    set[#set + 1] = digits(head[i])
  end
end
for place in pairs(touched) do
  if counts[place] > 0 then
    set[#set + 1] = place
    set[#set + 1] = digits(counts[place])
  elseif not is_void and ledger[10 + place] then
    gone[#gone + 1] = place
  end
end
redis.call('HSET', KEYS[1], unpack(set))
if #gone > 0 then redis.call('HDEL', KEYS[1], unpack(gone)) end
redis.call('PEXPIRE', KEYS[1], math.ceil(keep * len / 1000))
local age = math.max(0, now - bucket * len)
return { 0, granted, bucket, age, left - granted, limit, version, math.max(head[3], head[4]), wait, born }
