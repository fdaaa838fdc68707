#!/usr/bin/env bash
# snarkjs.sh PROOFMILL EVM: checks that snarkjs and proofmill accept each other's keys and proofs, and that
# snarkjs's Solidity verifiers accept proofmill's proofs, at every level of this CPU; and that proofmill takes every command line of
# snarkjs's README.
set -euo pipefail
proofmill=$(realpath "$1")
expected=$PWD/crates/groth16/tests/data/membership-small.zkey
constraints=$PWD/.ci/constraints.mjs
evm=$(realpath "$2") solc=$PWD/.ci/solc.mjs
circuits=$PWD/crates/plonk/tests/data
commands=$PWD/.ci/snarkjs_readme.sh
small=$PWD/examples/membership-small large=$PWD/examples/membership
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

levels=$("$proofmill" cpu --json | node -p 'JSON.parse(fs.readFileSync(0)).result.levels.join(" ")')

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
for level in $levels; do
    "$proofmill" zkey beacon second.zkey ours.zkey 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 10 --name beacon --level "$level"
    cmp ours.zkey third.zkey
    "$proofmill" zkey contribute third.zkey fourth.zkey --name "of $level" --entropy test --level "$level"
    accepts zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" fourth.zkey
    "$proofmill" zkey verify r1cs "$small/circuit.r1cs" "$small/pot8.ptau" fourth.zkey --level "$level"
done
"$proofmill" groth16 setup "$small/circuit.r1cs" "$small/pot8.ptau" initial.zkey --quiet
"$proofmill" zkey verify init initial.zkey "$small/pot8.ptau" third.zkey
if "$proofmill" zkey verify r1cs "$large/circuit.r1cs" "$small/pot8.ptau" third.zkey; then exit 1; fi

echo "-- keys in bellman's format: the same bytes, and each takes the other's contributions"
snarkjs zkey export bellman second.zkey theirs > said
"$proofmill" zkey export bellman second.zkey ours
cmp ours theirs
"$proofmill" zkey bellman contribute bn128 ours first --entropy test
snarkjs zkey bellman contribute bn128 first response -e=test > said
snarkjs zkey import bellman second.zkey response theirs.zkey -n=imported > said
"$proofmill" zkey import bellman second.zkey response ours.zkey --name imported
cmp ours.zkey theirs.zkey
accepts zkey verify "$small/circuit.r1cs" "$small/pot8.ptau" ours.zkey

echo "-- powers of tau: proofmill and snarkjs contribute in turn and verify; what is determined has the same bytes"
seed=0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
"$proofmill" powersoftau new bn128 5 0.ptau > said
snarkjs powersoftau new bn128 5 theirs.ptau > said
cmp 0.ptau theirs.ptau
"$proofmill" powersoftau contribute 0.ptau 1.ptau --name ours --entropy test
snarkjs powersoftau contribute 1.ptau 2.ptau --name=theirs -e=test > said
snarkjs powersoftau export challenge 2.ptau theirs > said
"$proofmill" powersoftau export challenge 2.ptau challenge
cmp challenge theirs
snarkjs powersoftau challenge contribute bn128 challenge response -e=test > said
snarkjs powersoftau import response 2.ptau response theirs.ptau -n=imported > said
"$proofmill" powersoftau import response 2.ptau response 3.ptau --name imported
cmp 3.ptau theirs.ptau
"$proofmill" powersoftau export challenge 3.ptau challenge
"$proofmill" powersoftau challenge contribute bn128 challenge response
snarkjs powersoftau import response 3.ptau response 4.ptau -n=imported > said
snarkjs powersoftau beacon 4.ptau 5.ptau $seed 10 --name=last > said
for level in $levels; do
    "$proofmill" powersoftau beacon 4.ptau ours.ptau $seed 10 --name last --level "$level"
    cmp ours.ptau 5.ptau
done
accepts powersoftau verify 5.ptau
# Each contribution's next challenge, response hash and the challenge before, the last contribution first.
grep -A20 'Contribution #' said | grep -oE '\b[0-9a-f]{8}\b' | paste -sd '' | grep -oE '.{384}' | cut -c129-256 > theirs
"$proofmill" powersoftau verify 5.ptau --json | node -p '
    JSON.parse(fs.readFileSync(0)).result.contributions.map(({ hash }) => hash).reverse().join("\n")' > ours
[ "$(wc -l < ours)" -eq 5 ]
cmp ours theirs
snarkjs powersoftau prepare phase2 5.ptau prepared.ptau > said
"$proofmill" powersoftau verify prepared.ptau
for level in $levels; do
    "$proofmill" powersoftau prepare phase2 5.ptau ours.ptau --level "$level"
    cmp ours.ptau prepared.ptau
done
# Section 12 without the largest domain, as snarkjs wrote it before version 0.3.
node -e '
    const bytes = fs.readFileSync("prepared.ptau");
    let at = 12;
    while (bytes.readUInt32LE(at) !== 12) at += 12 + Number(bytes.readBigUInt64LE(at + 4));
    const length = 64 * ((1 << 6) - 1);
    const rest = bytes.subarray(at + 12 + Number(bytes.readBigUInt64LE(at + 4)));
    bytes.writeBigUInt64LE(BigInt(length), at + 4);
    fs.writeFileSync("old.ptau", Buffer.concat([bytes.subarray(0, at + 12 + length), rest]));'
snarkjs powersoftau convert old.ptau theirs.ptau > said
for old in old.ptau prepared.ptau; do
    "$proofmill" powersoftau convert $old ours.ptau
    cmp ours.ptau theirs.ptau
done
cmp ours.ptau prepared.ptau
snarkjs powersoftau export json prepared.ptau theirs.json > said
"$proofmill" powersoftau export json prepared.ptau ours.json
# snarkjs writes x / R mod r for a point with the Montgomery limbs of x (of its first coefficient in G2).
node -e '
    const [ours, theirs] = ["ours.json", "theirs.json"].map((name) => JSON.parse(fs.readFileSync(name)));
    const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n, q = BigInt(ours.q), R = 1n << 256n;
    let [a, b, x] = [R % r, r, [1n, 0n]];
    while (b) [a, b, x] = [b, a % b, [x[1], x[0] - (a / b) * x[1]]];
    const shown = ([x]) => (((BigInt([x].flat()[0]) * R % q) * x_of_r) % r).toString(), x_of_r = ((x[0] % r) + r) % r;
    const same = (ours, theirs) => {
        if (typeof theirs === "string") { if (shown(ours) !== theirs) throw new Error(`${ours} is not ${theirs}`); return; }
        if (ours.length !== theirs.length) throw new Error(`${ours.length} of ${theirs.length}`);
        theirs.forEach((each, index) => same(ours[index], each));
    };
    for (const key of Object.keys(theirs).slice(3)) same(ours[key], theirs[key]);
    if (Object.keys(ours).join() !== Object.keys(theirs).join()) throw new Error("keys");
    ours.contributions.forEach((each, index) => {
        const other = theirs.contributions[index];
        if (Object.keys(each).join() !== Object.keys(other).filter((key) => key !== "responseHash").join()) throw new Error("keys");
        for (const name of ["tauG1", "tauG2", "alphaG1", "betaG1", "betaG2"]) same([each[name]], [other[name]]);
    });'
mkdir parts theirs-parts
cp prepared.ptau parts/p.ptau && cp prepared.ptau theirs-parts/p.ptau
snarkjs powersoftau truncate theirs-parts/p.ptau > said
"$proofmill" powersoftau truncate parts/p.ptau
diff -r parts theirs-parts
"$proofmill" powersoftau verify parts/p_03.ptau
if "$proofmill" powersoftau contribute parts/p_03.ptau never.ptau; then exit 1; fi
# A power that is not one.
node -e '
    const bytes = fs.readFileSync("5.ptau");
    bytes.copy(bytes, 12 + 12 + 44 + 12 + 64 * 9, 12 + 12 + 44 + 12 + 64 * 8, 12 + 12 + 44 + 12 + 64 * 9);
    fs.writeFileSync("wrong.ptau", bytes);'
if "$proofmill" powersoftau verify wrong.ptau 2> said; then exit 1; fi
grep -q 'tau in G1): point 9 is not tau times point 8' said

# fflonk needs 9 n + 18 powers of tau.
snarkjs powersoftau new bn128 8 new.ptau
snarkjs powersoftau contribute new.ptau contributed.ptau --name=test -e=test
snarkjs powersoftau prepare phase2 contributed.ptau powers.ptau
for circuit in toy.circuit odd; do
    snarkjs fflonk setup "$circuits/$circuit.r1cs" powers.ptau "$circuit.zkey"
done

for level in $levels; do
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

echo "-- proofmill takes every command line of snarkjs's README"
unset PROOFMILL_LEVEL
code() { awk '/^```/ { inside = !inside } inside' "$NODE_PATH/snarkjs/README.md"; }
# The list lacks none of this version of the README.
diff <(grep '^snarkjs ' "$commands") <(code | grep '^snarkjs ')
mkdir readme && cd readme
# Its circuit and inputs.
code | sed -n '/^cat <</,/^EOT/p' | bash
circom2 --r1cs --wasm --sym circuit.circom > said
snarkjs() { "$proofmill" "$@" > said 2>&1 || { cat said; echo "refused: snarkjs $*"; return 1; }; }
. "$commands"
