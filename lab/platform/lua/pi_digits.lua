-- 400 digits of pi, four at a time, with the spigot of Rabinowitz and Wagon (1995): integer arithmetic in
-- arrays.
local DIGITS = 400

function benchmark()
  local size = math.floor(DIGITS / 4) * 14
  local rest, groups = {}, {}
  for i = 0, size do rest[i] = 2000 end
  local carried = 0
  for length = size, 14, -14 do
    local sum = 0
    for i = length, 1, -1 do
      sum = sum * i + 10000 * rest[i]
      local divisor = 2 * i - 1
      rest[i] = sum % divisor
      sum = (sum - rest[i]) / divisor
    end
    groups[#groups + 1] = ("%04d"):format(carried + math.floor(sum / 10000))
    carried = sum % 10000
  end
  local digits = table.concat(groups)
  return digits:sub(1, 20) .. " " .. digits:sub(-20)
end
