-- The number of primes below 2,000,000 with the sieve of Eratosthenes: scattered writes.
local LIMIT = 2000000

function benchmark()
  local composite = {}
  for i = 1, LIMIT do composite[i] = false end
  local primes = 0
  for i = 2, LIMIT - 1 do
    if not composite[i] then
      primes = primes + 1
      for j = i * i, LIMIT - 1, i do composite[j] = true end
    end
  end
  return tostring(primes)
end
