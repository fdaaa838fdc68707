-- The Sun and its giant planets, 100,000 steps of 0.01 days with the symplectic Euler method: floating point
-- in tables.
local STEPS = 100000
local SOLAR_MASS, YEAR = 4 * math.pi ^ 2, 365.24

-- Positions in astronomical units, velocities in astronomical units per day, masses in solar masses.
local ELEMENTS = {
  { 0, 0, 0, 0, 0, 0, 1 },
  { 4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
    1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05, 9.54791938424326609e-04 },
  { 8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
    -2.76742510726411899e-03, 4.99852801234917238e-03, 2.30417297573763929e-05, 2.85885980666130812e-04 },
  { 1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
    2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05, 4.36624404335156298e-05 },
  { 1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
    2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05, 5.15138902046611451e-05 },
}

local function system()
  local bodies, px, py, pz = {}, 0, 0, 0
  for i, e in ipairs(ELEMENTS) do
    local b = { x = e[1], y = e[2], z = e[3], vx = e[4] * YEAR, vy = e[5] * YEAR, vz = e[6] * YEAR, m = e[7] * SOLAR_MASS }
    px, py, pz = px + b.vx * b.m, py + b.vy * b.m, pz + b.vz * b.m
    bodies[i] = b
  end
  local sun = bodies[1]
  sun.vx, sun.vy, sun.vz = -px / SOLAR_MASS, -py / SOLAR_MASS, -pz / SOLAR_MASS
  return bodies
end

local function energy(bodies)
  local e = 0
  for i, a in ipairs(bodies) do
    e = e + 0.5 * a.m * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2)
    for j = i + 1, #bodies do
      local b = bodies[j]
      e = e - a.m * b.m / math.sqrt((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2)
    end
  end
  return e
end

local function step(bodies, n, dt)
  for i = 1, n do
    local a = bodies[i]
    local x, y, z, m, vx, vy, vz = a.x, a.y, a.z, a.m, a.vx, a.vy, a.vz
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = x - b.x, y - b.y, z - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = dt / (square * math.sqrt(square))
      local on_a, on_b = b.m * pull, m * pull
      vx, vy, vz = vx - dx * on_a, vy - dy * on_a, vz - dz * on_a
      b.vx, b.vy, b.vz = b.vx + dx * on_b, b.vy + dy * on_b, b.vz + dz * on_b
    end
    a.vx, a.vy, a.vz = vx, vy, vz
    a.x, a.y, a.z = x + dt * vx, y + dt * vy, z + dt * vz
  end
end

function benchmark()
  local bodies = system()
  local before = energy(bodies)
  local early
  for i = 1, STEPS do
    step(bodies, #bodies, 0.01)
    if i == 1000 then early = energy(bodies) end
  end
  return ("%.9f %.9f %.9f"):format(before, early, energy(bodies))
end
