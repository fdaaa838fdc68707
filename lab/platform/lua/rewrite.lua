-- Generates words, counts them and rewrites the text: strings, patterns and hash tables.
local WORDS = 20000

function benchmark()
  local state, words = 42, {}
  for i = 1, WORDS do
    state = (state * 3877 + 29573) % 139968
    words[i] = ("w%d"):format(state % 1000)
  end
  local text = table.concat(words, " \n  ")
  local short = text:gsub("%s+", " ")
  local counts, kinds = {}, 0
  for word in short:gmatch("%w+") do
    if not counts[word] then
      kinds = kinds + 1
      counts[word] = 0
    end
    counts[word] = counts[word] + 1
  end
  local rewritten = short:gsub("w(%d+)", function(digits) return "<b>" .. digits .. "</b>" end)
  return ("%d %d %d %d"):format(kinds, counts.w7 or 0, #short, #rewritten)
end
