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
# Proofmill's contract for a key of snarkjs's and snarkjs's own take the same calls.
words() { grep -oE '0x[0-9a-f]{64}' "$1"; }
for system in groth16 plonk fflonk; do
    "$proofmill" "$system" prove "$small/$system.zkey" "$small/witness.wtns" proof.json public.json
    "$proofmill" zkey export solidityverifier "$small/$system.zkey" "$system.sol"
    "$proofmill" zkey export solidityverifier "$small/$system.vk.json" of-vk
    cmp of-vk "$system.sol"
    "$proofmill" zkey export soliditycalldata public.json proof.json --key "$small/$system.vk.json" > "$system.calldata"
    snarkjs zkey export soliditycalldata public.json proof.json > theirs.calldata
    cmp <(words "$system.calldata") <(words theirs.calldata)
    snarkjs zkey export solidityverifier "$small/$system.zkey" "snarkjs-$system.sol"
    cp "$system.calldata" "snarkjs-$system.calldata"
    # The whole text, in the case of Groth16.
    [ "$system" != groth16 ] || cmp "$system.calldata" theirs.calldata
done
for arithmetisation in turbo ultra; do
    "$proofmill" plonk setup --arithmetisation "$arithmetisation" "$small/circuit.r1cs" "$small/pot8.ptau" circuit.key
    "$proofmill" plonk prove circuit.key "$small/witness.wtns" proof.json public.json
    "$proofmill" zkey export solidityverifier circuit.key "r1cs-$arithmetisation.sol"
    "$proofmill" zkey export verificationkey circuit.key vk.json
    "$proofmill" zkey export solidityverifier vk.json of-vk
    cmp of-vk "r1cs-$arithmetisation.sol"
    "$proofmill" zkey export soliditycalldata public.json proof.json > "r1cs-$arithmetisation.calldata"
done
# A STARK inside of PLONK; few queries, so that the circuit is small.
options=(--queries 2 --grinding 1 --allow-insecure-setup)
"$proofmill" stark workload fibonacci --log-rows 6 --hash poseidon-bn254 --out . "${options[@]}"
"$proofmill" srs new powers.ptau --size 2^16
"$proofmill" stark wrap setup air.json powers.ptau wrap.key --log-rows 6 "${options[@]}"
"$proofmill" stark wrap prove air.json wrap.key wrapped.json signals.json --inner proof.bin public.json "${options[@]}"
[ "$(tr -d ' \n' < signals.json)" = "$(tr -d ' \n' < public.json)" ]
"$proofmill" zkey export solidityverifier wrap.key stark-wrap.sol --allow-insecure-setup
"$proofmill" zkey export soliditycalldata signals.json wrapped.json > stark-wrap.calldata
for contract in *.sol; do
    node "$solc" "$contract" > compiled
    echo "${contract%.sol}: $("$evm" compiled "${contract%.sol}.calldata")"
done
