-- Tests 200 by 200 points from -1.5 - i to 0.5 + i: a bit is set if the point does not leave the circle of
-- radius 2 within 50 steps. The answer is the Adler-32 checksum of the bits.
local SIZE, STEPS = 200, 50
local bit = require("bit")

function benchmark()
  local a, b = 1, 0
  for y = 0, SIZE - 1 do
    local ci = 2 * y / SIZE - 1
    local byte = 0
    for x = 0, SIZE - 1 do
      local cr = 2 * x / SIZE - 1.5
      local zr, zi, rr, ii, inside = 0, 0, 0, 0, 1
      for _ = 1, STEPS do
        zr, zi = rr - ii + cr, 2 * zr * zi + ci
        rr, ii = zr * zr, zi * zi
        if rr + ii > 4 then
          inside = 0
          break
        end
      end
      byte = byte * 2 + inside
      if x % 8 == 7 then
        a = (a + byte) % 65521
        b = (b + a) % 65521
        byte = 0
      end
    end
  end
  return bit.tohex(b * 65536 + a)
end
