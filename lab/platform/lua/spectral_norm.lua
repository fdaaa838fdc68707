-- The spectral norm of the infinite matrix 1 / ((i + j)(i + j + 1) / 2 + i + 1), truncated to 500 rows, by
-- the power method.
local SIZE = 500

local function entry(i, j)
  local sum = i + j
  return 1 / (sum * (sum + 1) * 0.5 + i + 1)
end

local function times(v, out)
  for i = 0, SIZE - 1 do
    local sum = 0
    for j = 0, SIZE - 1 do sum = sum + entry(i, j) * v[j] end
    out[i] = sum
  end
end

local function transposed_times(v, out)
  for i = 0, SIZE - 1 do
    local sum = 0
    for j = 0, SIZE - 1 do sum = sum + entry(j, i) * v[j] end
    out[i] = sum
  end
end

function benchmark()
  local u, v, t = {}, {}, {}
  for i = 0, SIZE - 1 do u[i], v[i], t[i] = 1, 0, 0 end
  for _ = 1, 10 do
    times(u, t)
    transposed_times(t, v)
    times(v, t)
    transposed_times(t, u)
  end
  local uv, vv = 0, 0
  for i = 0, SIZE - 1 do uv, vv = uv + u[i] * v[i], vv + v[i] * v[i] end
  return ("%.9f"):format(math.sqrt(uv / vv))
end
