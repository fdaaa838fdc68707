-- Allocates and walks binary trees of depth 14 (garbage collection). The answer consists of the checks of all
-- lines.
local DEPTH = 14

local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end

local function nodes(t)
  local left = t[1]
  if not left then return 1 end
  return 1 + nodes(left) + nodes(t[2])
end

function benchmark()
  local checks = { nodes(tree(DEPTH + 1)) }
  local kept = tree(DEPTH)
  for depth = 4, DEPTH, 4 do
    local sum = 0
    for _ = 1, 2 ^ (DEPTH - depth + 4) do
      sum = sum + nodes(tree(depth))
    end
    checks[#checks + 1] = sum
  end
  checks[#checks + 1] = nodes(kept)
  return table.concat(checks, " ")
end
