-- Sends the signed requests of a file, each once, and checks every response.
--
-- Before each request the file has its length in five digits, and the 37 characters of its response's
-- key: G, L, C or R for a payment, a list, a creation or a refusal, and the ID of the payment, the ID of
-- the list's first payment, the customer reference that a creation echoes, or zeros.

local KEY, HEAD = 37, 42
local SHED_STATUS = 503
local REFUSED = 'R' .. ('0'):rep(KEY - 1)
local threads = {}

-- Globals, since done() reads them through thread:get.
payments, lists, created, shed, wrong, exhausted, sample = 0, 0, 0, 0, 0, 0, ''
-- G, L, C or R with p50 and p99 in microseconds, for each kind of response in each whole window, as JSON.
windows = ''

function setup(thread)
  thread:set('index', #threads)
  threads[#threads + 1] = thread
end

local source, exact, may_shed, current, clock, window
-- When requests without a free connection were due, oldest first.
local held = {}
-- By response key: when the requests that wait for it began, oldest first.
local awaited, seen = {}, {}

-- Arguments: prefix of the files, one per thread; requests per second, 0 for as many as get
-- a response; 'shed' to count 503 with Retry-After instead of failing; 'exact' if each connection has its
-- own thread; length of the windows whose latencies are recorded, in milliseconds, 0 for none.
function init(arguments)
  source = assert(io.open(arguments[1] .. '.' .. index, 'rb'))
  may_shed = arguments[3] == 'shed'
  -- With one connection for each thread, the response belongs to the request before it.
  exact = arguments[4] == 'exact'
  local rate, length = tonumber(arguments[2]), tonumber(arguments[5])
  clock = open_clock()
  if rate > 0 then delay = pace(rate) end
  if length > 0 then window = open_window(length) end
end

-- Returns a function that reads a monotonic clock, in milliseconds.
function open_clock()
  local ffi = require('ffi')
  ffi.cdef([[
    struct bench_time { long seconds; long nanoseconds; };
    int clock_gettime(int clock, struct bench_time *time);
  ]])
  local monotonic = ffi.os == 'OSX' and 6 or 1
  local time = ffi.new('struct bench_time')
  return function()
    ffi.C.clock_gettime(monotonic, time)
    return tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
  end
end

-- An open loop: requests are due at even intervals, however long earlier ones take. A request that has
-- to wait for a connection is measured from when it was due. Returns milliseconds, the resolution of wrk.
function pace(rate)
  local next_due
  return function()
    local now = clock()
    local due = next_due or now
    next_due = due + 1000 / rate
    if due > now then return math.floor(due - now + 0.5) end
    held[#held + 1] = due
    return 0
  end
end

-- A histogram of latencies for each kind, with buckets one percent apart: sorting latencies for a
-- percentile would delay requests.
function open_window(length)
  local STEP, BUCKETS = math.log(1.01), 2000
  local kinds, ends = {}, clock() + length
  local function percentile(kind, share)
    local left = kind.count * share
    for bucket = 0, BUCKETS do
      left = left - kind.buckets[bucket]
      if left <= 0 then return math.exp(bucket * STEP) end
    end
  end
  local function clear(kind)
    kind.count = 0
    for bucket = 0, BUCKETS do kind.buckets[bucket] = 0 end
  end
  local function close_window()
    for name, kind in pairs(kinds) do
      if kind.count > 0 then
        local p50, p99 = percentile(kind, 0.5), percentile(kind, 0.99)
        local separator = windows == '' and '' or ','
        windows = windows .. separator .. ('["%s",%.1f,%.1f]'):format(name, p50, p99)
        clear(kind)
      end
    end
  end
  return function(name, sent, now)
    if now >= ends then
      close_window()
      -- No response may have come for longer than a window.
      while ends <= now do ends = ends + length end
    end
    local kind = kinds[name]
    if kind == nil then
      kind = { buckets = {} }
      clear(kind)
      kinds[name] = kind
    end
    local bucket = math.floor(math.log(math.max(1, (now - sent) * 1000)) / STEP + 0.5)
    bucket = math.min(bucket, BUCKETS)
    kind.buckets[bucket], kind.count = kind.buckets[bucket] + 1, kind.count + 1
  end
end

function request()
  local head = source:read(HEAD)
  if head == nil then
    exhausted = 1
    wrk.thread:stop()
    return ''
  end
  current = head:sub(-KEY)
  local start = table.remove(held, 1) or clock()
  local sent = awaited[current]
  if sent == nil then
    awaited[current] = { start }
  else
    sent[#sent + 1] = start
  end
  return source:read(tonumber(head:sub(1, HEAD - KEY)))
end

local function refuse(why, status, body)
  wrong = wrong + 1
  if sample == '' then sample = why .. ': ' .. status .. ' ' .. body:sub(1, 400) end
end

local function has_header(headers, wanted)
  for name in pairs(headers) do
    if name:lower() == wanted then return true end
  end
  return false
end

-- Returns the key of a response; nil for a wrong one.
local function recognise(status, body)
  if status == 201 then
    local id = body:match('"id":"([^"]+)"')
    if id == nil or seen[id] or not body:find('"status":"pending"', 1, true) then return nil end
    seen[id] = true
    created = created + 1
    return 'C' .. (body:match('"customerReferenceId":"([^"]+)"') or '')
  end
  if status == 401 then return body:find('"errorCode":"E2001"', 1, true) and REFUSED end
  if status ~= 200 then return nil end
  local id = body:match('^{"object":"payment_prompt","id":"([^"]+)"')
  if id ~= nil then
    payments = payments + 1
    return 'G' .. id
  end
  id = body:match('^{"object":"list","data":%[{"object":"payment_prompt","id":"([^"]+)"')
  if id == nil or body:sub(-15) ~= '"hasMore":true}' then return nil end
  if exact and select(2, body:gsub('"payment_prompt"', '')) ~= 10 then return nil end
  lists = lists + 1
  return 'L' .. id
end

function response(status, headers, body)
  if may_shed and status == SHED_STATUS then
    if has_header(headers, 'retry-after') then
      shed = shed + 1
    else
      refuse('no Retry-After', status, body)
    end
    return
  end
  local key = recognise(status, body)
  if key == nil then return refuse('a wrong response', status, body) end
  local sent = awaited[key]
  if sent == nil or (exact and key ~= current) then
    return refuse('the response to another request', status, body)
  end
  local first = table.remove(sent, 1)
  if #sent == 0 then awaited[key] = nil end
  if window then window(key:sub(1, 1), first, clock()) end
end

local function json(text)
  return '"' .. text:gsub('[%c\\"]', function(character)
    return string.format('\\u%04x', character:byte())
  end) .. '"'
end

function done(summary)
  local totals = { payments = 0, lists = 0, created = 0, shed = 0, wrong = 0, exhausted = 0 }
  local text, latencies = '', ''
  for _, thread in ipairs(threads) do
    for name, total in pairs(totals) do totals[name] = total + thread:get(name) end
    if text == '' then text = thread:get('sample') end
    if latencies == '' then latencies = thread:get('windows') end
  end
  local errors = summary.errors
  local fields = {
    '"requests":' .. summary.requests,
    '"microseconds":' .. summary.duration,
    '"broken":' .. errors.connect + errors.read + errors.write + errors.timeout,
    '"sample":' .. json(text),
    '"windows":[' .. latencies .. ']',
  }
  for name, total in pairs(totals) do fields[#fields + 1] = '"' .. name .. '":' .. total end
  io.write('\n{' .. table.concat(fields, ',') .. '}\n')
end
