#!/usr/bin/env bash
# corpus.sh PROOFMILL: circuits, keys, inputs and contracts of other people's projects, and random circuits, by Proofmill and by snarkjs.
# docs/compatibility.md has what is found.
set -euo pipefail
proofmill=$(realpath "$1") corpus=$PWD/.ci/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$corpus"/package*.json "$work"
npm ci --prefix "$work" --no-audit --no-fund --loglevel error
mkdir "$work/cache"
cp docs/compatibility.md "$work"
# Always the same ones; without a seed, by hand, they are others. These found that guards of quotients were checked too early.
node "$corpus/random.mjs" "$proofmill" "$work" 200 93662211
node "$corpus/contracts.mjs" "$proofmill" "$work/cache"
node "$corpus/run.mjs" "$proofmill" "$work" "$work/cache"
diff "$work/compatibility.md" docs/compatibility.md
