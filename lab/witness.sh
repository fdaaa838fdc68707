#!/usr/bin/env bash
# witness.sh TOOLS CACHE PROOFMILL PROOFMILL-BENCH RECORD.csv [CIRCOM-ECDSA]: times whole processes that calculate witnesses, in alternation: by
# circom's WASM and by the circuit that was compiled from it for other inputs, each with snarkjs. TOOLS has what .ci/corpus/package.json lists, CACHE keeps
# packages; CIRCOM-ECDSA is a clone of github.com/0xPARC/circom-ecdsa. Takes about fifteen minutes.
set -euo pipefail
tools=$(realpath "$1") cache=$(realpath "$2") proofmill=$(realpath "$3") bench=$(realpath "$4") record=$(realpath -m "$5")
ecdsa=${6:+$(realpath "$6")}
cd "$(dirname "$0")/.."
corpus=$PWD/.ci/corpus
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
export PROOFMILL_CIRCUIT_CACHE=off KEEP=$PWD/kept
mkdir "$KEEP"

# kept NAME SHORT: checks a circuit of the corpus, and names its files.
kept() {
    node "$corpus/run.mjs" "$proofmill" "$tools" "$cache" "$1"
    for end in wasm wcd json; do
        mv "$KEEP"/*."$end" "$2.$end"
    done
}

# compiled SHORT INPUT: compiles SHORT.circom in this folder, for the first of two inputs that a program prints.
compiled() {
    node "$tools/node_modules/circom2/cli.js" "$1.circom" --r1cs --wasm --O1 -l node_modules/circomlib/circuits
    mv "$1_js/$1.wasm" .
    node -p "$2" > sample.json
    node -p "$2" > "$1.json"
    "$proofmill" wtns compile "$1.wasm" sample.json "$1.wcd" --r1cs "$1.r1cs"
}

kept "circomlib: EdDSAPoseidonVerifier()" eddsa
kept "ZK Email: RSAVerifier65537" rsa
kept "ZK Email: BodyHashRegex" body-hash
kept "Semaphore 4: Semaphore(20)" semaphore
kept "incrementalquintree: MerkleTreeInclusionProof(20)" circom1-merkle
# circom2 reads no files outside of the folder.
mkdir node_modules
cp -r "$cache/circomlib@2.0.5/node_modules/circomlib" node_modules
cat > sha256.circom <<< 'pragma circom 2.0.0;
include "sha256/sha256.circom";
component main = Sha256(16384);'
compiled sha256 'JSON.stringify({ in: Array.from({ length: 16384 }, () => Math.floor(2 * Math.random())) })'
circuits="eddsa rsa body-hash semaphore circom1-merkle sha256"
if [ -n "$ecdsa" ]; then
    cp -r "$ecdsa/circuits" circom-ecdsa
    cat > ecdsa.circom <<< 'pragma circom 2.0.2;
include "circom-ecdsa/ecdsa.circom";
component main = ECDSAPrivToPub(64, 4);'
    limb='require("node:crypto").randomBytes(7).readUIntBE(0, 6)'
    compiled ecdsa "JSON.stringify({ privkey: Array.from({ length: 4 }, () => String($limb)) })"
    circuits+=" ecdsa"
fi

snarkjs="node $tools/node_modules/snarkjs/build/cli.cjs"
for circuit in $circuits; do
    for form in wasm wcd; do
        mkdir -p "$form"
        # The benchmark is named after the file.
        cp "$circuit.$form" "$form/$circuit-$form"
        "$bench" provers wtns "$form/$circuit-$form" "$circuit.json" --time 15s --power none --db runs.db --proofmill "$proofmill" \
            --peer "snarkjs=$snarkjs wtns calculate $PWD/$circuit.wasm {input} {wtns}"
    done
done
"$bench" export --db runs.db --record --out "$record"
