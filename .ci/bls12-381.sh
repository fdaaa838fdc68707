#!/usr/bin/env bash
# bls12-381.sh PROOFMILL: what .ci/snarkjs.sh checks over BN254, over circom's and snarkjs's second curve: witnesses, keys, proofs,
# both phases of ceremonies and JSON.
set -euo pipefail
proofmill=$(realpath "$1")
data=$PWD/crates/witness/tests/data
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
seed=0102030405060708090a0b0c0d0e0f10
levels=$("$proofmill" cpu --json | node -p 'JSON.parse(fs.readFileSync(0)).result.levels.join(" ")')

# snarkjs's exit status does not depend on the result; its output does.
accepts() { snarkjs "$@" > said && grep -q 'OK!\|Ok!\|VERIFIED SUCCESSFULLY' said || { cat said; exit 1; }; }

# rejects COMMAND...: the exit status is that of a wrong proof.
rejects() {
    local status=0
    "$@" 2> said || status=$?
    [ "$status" -eq 1 ] || { cat said; echo "expected status 1, found $status: $*"; exit 1; }
}

cp "$data"/*.circom .
for circuit in inputs operators components; do circom2 "$circuit.circom" -p bls12381 --r1cs --wasm --sym > said || { cat said; exit 1; }; done

echo "-- witnesses are snarkjs's bytes, and so are exports"
for inputs in "$data"/operators-*.json; do
    snarkjs wtns calculate operators_js/operators.wasm "$inputs" theirs.wtns > said
    "$proofmill" wtns calculate operators_js/operators.wasm "$inputs" ours.wtns
    cmp ours.wtns theirs.wtns
done
snarkjs wtns calculate inputs_js/inputs.wasm "$data/small.json" witness.wtns > said
"$proofmill" wtns calculate inputs_js/inputs.wasm "$data/small.json" ours.wtns
cmp ours.wtns witness.wtns
"$proofmill" wtns check inputs.r1cs witness.wtns
"$proofmill" info inputs.r1cs | grep -q 'curve .*bls12-381'
for file in "r1cs inputs.r1cs" "wtns witness.wtns"; do
    read -r kind name <<< "$file"
    snarkjs "$kind" export json "$name" theirs.json > said
    "$proofmill" "$kind" export json "$name" ours.json
    cmp ours.json theirs.json
done

echo "-- powers of tau: the same bytes where they are determined, and each takes the other's contributions"
"$proofmill" powersoftau new bls12381 5 0.ptau > said
snarkjs powersoftau new bls12381 5 theirs.ptau > said
cmp 0.ptau theirs.ptau
"$proofmill" powersoftau contribute 0.ptau 1.ptau --name ours --entropy test
snarkjs powersoftau contribute 1.ptau 2.ptau --name=theirs -e=test > said
snarkjs powersoftau export challenge 2.ptau theirs > said
"$proofmill" powersoftau export challenge 2.ptau challenge
cmp challenge theirs
"$proofmill" powersoftau challenge contribute bls12381 challenge response
snarkjs powersoftau import response 2.ptau response theirs.ptau -n=imported > said
"$proofmill" powersoftau import response 2.ptau response 3.ptau --name imported
cmp 3.ptau theirs.ptau
snarkjs powersoftau beacon 3.ptau raw.ptau $seed 10 --name=last > said
snarkjs powersoftau prepare phase2 raw.ptau powers.ptau > said
for level in $levels; do
    "$proofmill" powersoftau beacon 3.ptau ours.ptau $seed 10 --name last --level "$level"
    cmp ours.ptau raw.ptau
    "$proofmill" powersoftau prepare phase2 raw.ptau ours.ptau --level "$level"
    cmp ours.ptau powers.ptau
done
accepts powersoftau verify raw.ptau
"$proofmill" powersoftau verify powers.ptau
mkdir parts theirs-parts
cp powers.ptau parts/p.ptau && cp powers.ptau theirs-parts/p.ptau
snarkjs powersoftau truncate theirs-parts/p.ptau > said
"$proofmill" powersoftau truncate parts/p.ptau
diff -r parts theirs-parts
"$proofmill" powersoftau export json powers.ptau powers.json
# A power that is not one: tau^9 is tau^8.
node -e '
    const bytes = fs.readFileSync("raw.ptau"), at = 12 + 12 + 60 + 12 + 96 * 8;
    bytes.copy(bytes, at + 96, at, at + 96);
    fs.writeFileSync("wrong.ptau", bytes);'
rejects "$proofmill" powersoftau verify wrong.ptau

echo "-- setup is snarkjs's bytes; proofs are accepted by both; contributions in turn"
snarkjs groth16 setup inputs.r1cs powers.ptau 0.zkey > said
for level in $levels; do
    "$proofmill" groth16 setup inputs.r1cs powers.ptau ours.zkey --level "$level" --quiet
    cmp ours.zkey 0.zkey
done
"$proofmill" zkey contribute 0.zkey 1.zkey --name ours --entropy test
snarkjs zkey contribute 1.zkey 2.zkey -n=theirs -e=test > said
snarkjs zkey export bellman 2.zkey theirs > said
"$proofmill" zkey export bellman 2.zkey ours
cmp ours theirs
"$proofmill" zkey bellman contribute bls12381 ours response --entropy test
snarkjs zkey import bellman 2.zkey response theirs.zkey -n=imported > said
"$proofmill" zkey import bellman 2.zkey response 3.zkey --name imported
cmp 3.zkey theirs.zkey
snarkjs zkey beacon 3.zkey final.zkey $seed 10 -n=last > said
"$proofmill" zkey beacon 3.zkey ours.zkey $seed 10 --name last
cmp ours.zkey final.zkey
accepts zkey verify inputs.r1cs powers.ptau final.zkey
"$proofmill" zkey verify r1cs inputs.r1cs powers.ptau final.zkey
"$proofmill" info final.zkey --contributions | grep -c '^contribution ' | grep -qx 4
rejects "$proofmill" zkey verify r1cs components.r1cs powers.ptau final.zkey
snarkjs zkey export json final.zkey theirs.json > said
"$proofmill" zkey export json final.zkey ours.json
cmp ours.json theirs.json
snarkjs zkey export verificationkey final.zkey theirs.json > said
"$proofmill" zkey export verificationkey final.zkey vk.json
cmp vk.json theirs.json

for level in $levels; do
    "$proofmill" groth16 prove final.zkey witness.wtns proof.json public.json --level "$level"
    accepts groth16 verify vk.json public.json proof.json
    "$proofmill" groth16 verify vk.json public.json proof.json --level "$level"
done
snarkjs groth16 prove final.zkey witness.wtns theirs.json public.json > said
"$proofmill" groth16 verify vk.json public.json theirs.json
"$proofmill" groth16 fullprove "$data/small.json" inputs_js/inputs.wasm final.zkey proof.json public.json
accepts groth16 verify vk.json public.json proof.json
node -e '
    const signals = JSON.parse(fs.readFileSync("public.json"));
    signals[0] = (BigInt(signals[0]) + 1n).toString();
    fs.writeFileSync("wrong.json", JSON.stringify(signals));'
rejects "$proofmill" groth16 verify vk.json wrong.json proof.json
