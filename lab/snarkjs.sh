#!/usr/bin/env bash
# snarkjs.sh FOLDER PROOFMILL PROOFMILL-BENCH RECORD.csv: times whole processes of proofmill and snarkjs in alternation: fflonk at every
# level of this CPU. FOLDER is one in which .ci/install.sh has installed. Takes about ten minutes.
set -euo pipefail
tools=$(realpath "$1") proofmill=$(realpath "$2") bench=$(realpath "$3") record=$(realpath -m "$4")
export PATH=$tools/node_modules/.bin:$PATH
cd "$(dirname "$0")/.."
scripts=$PWD/lab
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
# circom2 reads no files outside of the folder.
cp "$scripts/squares-2e14.circom" .
echo '{ "first": "3" }' > squares-2e14.json
circom2 squares-2e14.circom --r1cs --wasm
"$proofmill" srs new --prepared --size 2^17 powers.ptau
"$proofmill" fflonk setup squares-2e14.r1cs powers.ptau squares-2e14.zkey
"$proofmill" wtns calculate squares-2e14_js/squares-2e14.wasm squares-2e14.json squares-2e14.wtns

# The keys are for this test only.
export PROOFMILL_ALLOW_INSECURE_SETUP=true
measure() { "$bench" provers "$@" --proofmill "$proofmill" --power none --db runs.db; }
# Two runs of six samples: those after six are not taken in alternation, since snarkjs has used up its time.
for _ in 1 2; do
    measure fflonk squares-2e14.zkey squares-2e14.wtns --level all --time 1s --precision 99 \
        --peer 'snarkjs=snarkjs fflonk prove {zkey} {wtns} {proof} {public}'
done
"$bench" export --db runs.db --record --out "$record"
