#!/usr/bin/env bash
# snarkjs.sh PROOFMILL EVM: checks that snarkjs and proofmill accept each other's keys and proofs, and that
# snarkjs's Solidity verifiers accept proofmill's proofs, at every level of this CPU.
set -euo pipefail
proofmill=$(realpath "$1")
expected=$PWD/crates/groth16/tests/data/membership-small.zkey
constraints=$PWD/.ci/constraints.mjs
evm=$(realpath "$2") solc=$PWD/.ci/solc.mjs
circuits=$PWD/crates/plonk/tests/data
small=$PWD/examples/membership-small large=$PWD/examples/membership
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# snarkjs's exit status does not depend on the result; its output does.
accepts() { snarkjs "$@" | tee said && grep -q 'OK!\|ZKey Ok!\|VERIFIED SUCCESSFULLY' said; }

echo "-- exports are snarkjs's bytes; constraints are printed as they are exported"
for circuit in "$small/circuit.r1cs" "$large/circuit.r1cs"; do
    "$proofmill" r1cs export json "$circuit" circuit.json
    snarkjs r1cs export json "$circuit" theirs.json > said || { cat said; exit 1; }
    cmp circuit.json theirs.json
    cmp <("$proofmill" r1cs print "$circuit") <(node "$constraints" theirs.json)
done
"$proofmill" zkey export json "$small/groth16.zkey" key.json
snarkjs zkey export json "$small/groth16.zkey" theirs.json
cmp key.json theirs.json

echo "-- snarkjs prepares the same powers as srs new --prepared"
"$proofmill" srs new --prepared --size 2^4 --quiet prepared.ptau
# Sections are in ascending order: the first seven are what is prepared.
node -e '
    const bytes = fs.readFileSync("prepared.ptau");
    let end = 12;
    for (let section = 0; section < 7; section++) end += 12 + Number(bytes.readBigUInt64LE(end + 4));
    bytes.writeUInt32LE(7, 8);
    fs.writeFileSync("raw.ptau", bytes.subarray(0, end));'
snarkjs powersoftau prepare phase2 raw.ptau theirs.ptau > said
cmp prepared.ptau theirs.ptau

echo "-- info shows the hashes of contributions that snarkjs shows"
snarkjs zkey contribute "$small/groth16.zkey" second.zkey --name=second -e=test
snarkjs zkey beacon second.zkey third.zkey 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 10 --name=beacon
snarkjs zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" third.zkey > said
# The circuit's hash (twice), the beacon, the second and the first contribution, 32 words of 4 bytes each.
grep -oE '\b[0-9a-f]{8}\b' said | paste -sd '' | grep -oE '.{128}' | uniq > theirs
"$proofmill" info third.zkey --json | node -p '
    const { circuit_hash, contributions } = JSON.parse(fs.readFileSync(0)).result.contributions;
    [circuit_hash, ...contributions.map(({ hash }) => hash).reverse()].join("\n")' > ours
[ "$(wc -l < ours)" -eq 4 ]
cmp ours theirs

echo "-- proofmill and snarkjs verify each other's contributions; beacons give the same bytes"
for level in $("$proofmill" cpu --json | node -p 'JSON.parse(fs.readFileSync(0)).result.levels.join(" ")'); do
    "$proofmill" zkey beacon second.zkey ours.zkey 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 10 --name beacon --level "$level"
    cmp ours.zkey third.zkey
    "$proofmill" zkey contribute third.zkey fourth.zkey --name "of $level" --entropy test --level "$level"
    accepts zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" fourth.zkey
    "$proofmill" zkey verify r1cs "$small/circuit.r1cs" "$small/pot8.ptau" fourth.zkey --level "$level"
done
"$proofmill" groth16 setup "$small/circuit.r1cs" "$small/pot8.ptau" initial.zkey --quiet
"$proofmill" zkey verify init initial.zkey "$small/pot8.ptau" third.zkey
if "$proofmill" zkey verify r1cs "$large/circuit.r1cs" "$small/pot8.ptau" third.zkey; then exit 1; fi
# fflonk needs 9 n + 18 powers of tau.
snarkjs powersoftau new bn128 8 new.ptau
snarkjs powersoftau contribute new.ptau contributed.ptau --name=test -e=test
snarkjs powersoftau prepare phase2 contributed.ptau powers.ptau
for circuit in toy.circuit odd; do
    snarkjs fflonk setup "$circuits/$circuit.r1cs" powers.ptau "$circuit.zkey"
done

for level in $("$proofmill" cpu --json | node -p 'JSON.parse(fs.readFileSync(0)).result.levels.join(" ")'); do
    export PROOFMILL_LEVEL=$level
    echo "-- level $level: snarkjs and its Solidity verifiers accept proofmill's proofs"
    "$proofmill" groth16 prove "$large/circuit.zkey" "$large/witness.wtns" proof.json public.json
    accepts groth16 verify "$large/verification_key.json" public.json proof.json
    for system in groth16 plonk fflonk; do
        "$proofmill" "$system" prove "$small/$system.zkey" "$small/witness.wtns" proof.json public.json
        accepts "$system" verify "$small/$system.vk.json" public.json proof.json
        snarkjs zkey export solidityverifier "$small/$system.zkey" verifier.sol
        snarkjs zkey export soliditycalldata public.json proof.json > calldata
        node "$solc" verifier.sol > compiled
        "$evm" compiled calldata
    done

    echo "-- level $level: proofmill verifies snarkjs's proofs"
    for system in groth16 plonk fflonk; do
        "$proofmill" "$system" verify "$small/$system.vk.json" "$small/public.json" "$small/$system.proof.json"
        snarkjs "$system" prove "$small/$system.zkey" "$small/witness.wtns" fresh.json fresh-public.json
        "$proofmill" "$system" verify "$small/$system.vk.json" fresh-public.json fresh.json
    done

    echo "-- level $level: plonk setup gives snarkjs's bytes"
    "$proofmill" plonk setup "$small/circuit.r1cs" "$small/pot8.ptau" plonk.zkey
    cmp plonk.zkey "$small/plonk.zkey"

    echo "-- level $level: fflonk setup gives snarkjs's bytes"
    for circuit in toy.circuit odd; do
        "$proofmill" fflonk setup "$circuits/$circuit.r1cs" powers.ptau fflonk.zkey
        cmp fflonk.zkey "$circuit.zkey"
    done

    echo "-- level $level: groth16 setup gives snarkjs's bytes; snarkjs accepts them, contributes to it and proves with it"
    "$proofmill" groth16 setup "$small/circuit.r1cs" "$small/pot8.ptau" groth16_0000.zkey
    cmp groth16_0000.zkey "$expected"
    accepts zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" groth16_0000.zkey
    snarkjs zkey contribute groth16_0000.zkey groth16.zkey --name=test -e=test
    accepts zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" groth16.zkey
    "$proofmill" zkey export verificationkey groth16.zkey vk.json
    snarkjs zkey export verificationkey groth16.zkey vk-snarkjs.json
    cmp vk.json vk-snarkjs.json
    snarkjs groth16 prove groth16.zkey "$small/witness.wtns" proof.json public.json
    "$proofmill" groth16 verify vk.json public.json proof.json
    "$proofmill" groth16 prove groth16.zkey "$small/witness.wtns" proof.json public.json
    accepts groth16 verify vk.json public.json proof.json
done
