-- For each permutation of 1..9, counts reversals of its first k elements, where k is the first element, until
-- k is 1. The answer is an alternating sum of the counts, and the largest count.
local SIZE = 9

function benchmark()
  local p, q, count = {}, {}, {}
  for i = 1, SIZE do p[i], count[i] = i, 0 end
  local checksum, most, sign = 0, 0, 1
  while true do
    if p[1] ~= 1 then
      for i = 1, SIZE do q[i] = p[i] end
      local flips, first = 0, q[1]
      while first ~= 1 do
        local i, j = 1, first
        while i < j do
          q[i], q[j] = q[j], q[i]
          i, j = i + 1, j - 1
        end
        flips, first = flips + 1, q[1]
      end
      if flips > most then most = flips end
      checksum = checksum + sign * flips
    end
    sign = -sign
    -- The next permutation: rotate the first two; after a full turn of the first k, rotate the first k + 1.
    local k = 2
    while true do
      if k > SIZE then return ("%d %d"):format(checksum, most) end
      local first = p[1]
      for i = 1, k - 1 do p[i] = p[i + 1] end
      p[k] = first
      count[k] = count[k] + 1
      if count[k] < k then break end
      count[k] = 0
      k = k + 1
    end
  end
end
