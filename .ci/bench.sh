#!/usr/bin/env bash
# bench.sh PROOFMILL-BENCH: checks the answer of every benchmark, at every level, on one and all threads, and
# moves the run through a store, a file and another store. Then measures, compares and shows some benchmarks.
set -euo pipefail
bench=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PROOFMILL_BENCH_DB=$folder/bench.db

"$bench" run --check --label check --json check.json > check.txt || { cat check.txt; exit 1; }
tail -n 1 check.txt
"$bench" import check.json --db other.db
"$bench" export check --db other.db --out again.json
python3 -c '
import json
runs = [json.load(open(name))["runs"][0] for name in ("check.json", "again.json")]
assert runs[0] == runs[1], "a run that was exported and imported is another"
outcomes = [measurement["outcome"]["status"] for measurement in runs[0]["measurements"]]
assert len(outcomes) > 100 and set(outcomes) == {"checked"}, set(outcomes)
'
"$bench" run ntt/bn254-fr/2^10 --level all --threads 1 --time 50ms --label timed
"$bench" compare timed --implementation adx --against portable ||
    "$bench" compare timed --implementation neon --against portable
"$bench" model --paper > /dev/null
