-- This text is appended to a benchmark, which defines `benchmark`: a function that does the work once and
-- returns its answer. Prints "ready VERSION". Then, for each line "run NANOSECONDS", repeats the work for
-- that time and prints "done COUNT WALL_NANOSECONDS CPU_NANOSECONDS ANSWER".
local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds, nanoseconds; } proofmill_time;
int clock_gettime(int clock, proofmill_time *time);
]]
local CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME = 1, 2
local time = ffi.new("proofmill_time")

local function nanoseconds(clock)
  ffi.C.clock_gettime(clock, time)
  return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

local expected = benchmark()
io.write("ready ", jit.version, "\n")
io.flush()
for line in io.lines() do
  local duration = tonumber(line:match("^run (%d+)$"))
  local count, wall, cpu = 0, nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME)
  local passed
  repeat
    assert(benchmark() == expected, "another answer the second time")
    count = count + 1
    passed = nanoseconds(CLOCK_MONOTONIC) - wall
  until passed >= duration
  io.write(("done %d %.0f %.0f %s\n"):format(count, passed, nanoseconds(CLOCK_PROCESS_CPUTIME) - cpu, expected))
  io.flush()
end
