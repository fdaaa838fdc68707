#!/usr/bin/env bash
# solidity.sh PROOFMILL EVM: checks that the Solidity verifiers that proofmill writes accept its proofs, and
# reject changed proofs.
set -euo pipefail
proofmill=$(realpath "$1") evm=$(realpath "$2")
solc=$PWD/.ci/solc.mjs
small=$PWD/examples/membership-small
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# `cargo test` has built this example.
"$(dirname "$proofmill")/examples/verifiers" "$folder"
cd "$folder"
"$proofmill" plonk prove "$small/plonk.zkey" "$small/witness.wtns" proof.json public.json
"$proofmill" zkey export solidityverifier "$small/plonk.zkey" snarkjs.sol
"$proofmill" zkey export soliditycalldata public.json proof.json > snarkjs.calldata
# The words of the call are those that snarkjs prints.
words() { grep -oE '0x[0-9a-f]{64}' "$1"; }
snarkjs zkey export soliditycalldata public.json proof.json > theirs.calldata
cmp <(words snarkjs.calldata) <(words theirs.calldata)
# fflonk's contract, and snarkjs's for the same call.
"$proofmill" fflonk prove "$small/fflonk.zkey" "$small/witness.wtns" proof.json public.json
"$proofmill" zkey export solidityverifier "$small/fflonk.zkey" fflonk.sol
"$proofmill" zkey export solidityverifier "$small/fflonk.vk.json" of-vk
cmp of-vk fflonk.sol
"$proofmill" zkey export soliditycalldata public.json proof.json > fflonk.calldata
snarkjs zkey export soliditycalldata public.json proof.json > theirs.calldata
cmp <(words fflonk.calldata) <(words theirs.calldata)
snarkjs zkey export solidityverifier "$small/fflonk.zkey" fflonk-of-snarkjs.sol
cp fflonk.calldata fflonk-of-snarkjs.calldata
for arithmetisation in turbo ultra; do
    "$proofmill" plonk setup --arithmetisation "$arithmetisation" "$small/circuit.r1cs" "$small/pot8.ptau" circuit.key
    "$proofmill" plonk prove circuit.key "$small/witness.wtns" proof.json public.json
    "$proofmill" zkey export solidityverifier circuit.key "r1cs-$arithmetisation.sol"
    "$proofmill" zkey export verificationkey circuit.key vk.json
    "$proofmill" zkey export solidityverifier vk.json of-vk
    cmp of-vk "r1cs-$arithmetisation.sol"
    "$proofmill" zkey export soliditycalldata public.json proof.json > "r1cs-$arithmetisation.calldata"
done
for contract in *.sol; do
    node "$solc" "$contract" > compiled
    echo "${contract%.sol}: $("$evm" compiled "${contract%.sol}.calldata")"
done
