#!/usr/bin/env bash
# circom.sh PROOFMILL EVM: takes circuits of circomlib from their source to an EVM that accepts their proofs, and compares
# witnesses with snarkjs's. Keys are made by proofmill alone, for tests.
set -euo pipefail
proofmill=$(realpath "$1") evm=$(realpath "$2")
sources=$PWD/.ci/circom solc=$PWD/.ci/solc.mjs
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
# This circom, which is itself compiled to WASM, reads no files outside of the folder.
cp "$sources"/* .
cp -r "$NODE_PATH/circomlib/circuits" circomlib
mkdir bin
ln -s "$(command -v circom2)" bin/circom
export PATH=$PWD/bin:$PATH

# fails STATUS WORDS COMMAND...: the command must end with this status and print these words.
fails() {
    local status=0
    "${@:3}" > said 2>&1 || status=$?
    [ "$status" -eq "$1" ] && grep -qF -- "$2" said || { cat said; echo "expected status $1 and '$2', found $status: ${*:3}"; exit 1; }
}

# accepts KEY SYSTEM PUBLIC PROOF: snarkjs and an EVM accept a proof for this key; the EVM refuses it with any other public
# signal. The output of the EVM is in the file `cost`.
accepts() {
    "$proofmill" zkey export verificationkey "$1" vk.json --allow-insecure-setup
    "$proofmill" "$2" verify vk.json "$3" "$4" --allow-insecure-setup
    snarkjs "$2" verify vk.json "$3" "$4" > said && grep -q 'OK!\|VERIFIED SUCCESSFULLY' said || { cat said; exit 1; }
    "$proofmill" zkey export solidityverifier vk.json verifier.sol --allow-insecure-setup
    "$proofmill" zkey export soliditycalldata "$3" "$4" > calldata
    node "$solc" verifier.sol > compiled
    "$evm" compiled calldata | tee cost
}

for circuit in eddsa sha256; do
    circom "$circuit.circom" --r1cs --wasm --sym -l circomlib > "$circuit.log" 2>&1 &
done

echo "-- dev: from source to verified proof; its estimate of gas is within a twentieth of an EVM's"
# The compiler is a command with an argument, as `npx circom2` is.
"$proofmill" dev membership.circom membership.json --include circomlib --system fflonk --keep . \
    --circom "node $NODE_PATH/circom2/cli.js" --json > report.json 2> warnings || { cat warnings; exit 1; }
grep -q '^warning: INSECURE: ' warnings && [ "$(wc -l < warnings)" -eq 1 ]
accepts insecure.zkey fflonk public.json insecure.proof.json
node -e '
    const { result } = JSON.parse(fs.readFileSync("report.json"));
    const { insecure, system, constraints, public_signals, seconds, gas } = result;
    const [execution, transaction] = fs.readFileSync("cost", "utf8").match(/[0-9]+/g).map(Number);
    const near = (estimate, cost) => Math.abs(estimate - cost) <= cost / 20;
    const steps = ["compile", "set_up", "witness", "prove", "verify"];
    if (!(insecure && system === "fflonk" && constraints > 900 && public_signals === 3
        && steps.every((step) => seconds[step] > 0) && near(gas.execution, execution) && near(gas.transaction, transaction)))
        throw new Error(`not as expected: ${JSON.stringify(result)}, ${execution} and ${transaction} gas`);'
sed 's/<== secret;/<== secrets;/' membership.circom > broken.circom
fails 2 'error: circom: exit status: 1' "$proofmill" dev broken.circom membership.json -l circomlib
for _ in eddsa sha256; do wait -n || { cat ./*.log; exit 1; }; done

echo "-- witnesses, and their JSON, are snarkjs's bytes"
# The bits of a message, first the highest of each byte.
node -p '
    const bits = [...Buffer.from("proofmill".repeat(8)).subarray(0, 64)].flatMap((byte) => [...byte.toString(2).padStart(8, "0")]);
    JSON.stringify({ in: bits })' > sha256.json
for circuit in membership eddsa sha256; do
    "$proofmill" wtns calculate "${circuit}_js/$circuit.wasm" "$circuit.json" "$circuit.wtns"
    snarkjs wtns calculate "${circuit}_js/$circuit.wasm" "$circuit.json" theirs.wtns
    cmp "$circuit.wtns" theirs.wtns
    "$proofmill" wtns export json "$circuit.wtns" "$circuit.wtns.json"
    snarkjs wtns export json theirs.wtns theirs.json
    cmp "$circuit.wtns.json" theirs.json
    "$proofmill" wtns check "$circuit.r1cs" "$circuit.wtns" --sym "$circuit.sym"
done
cmp membership.wtns witness.wtns
# The digest is what follows the signal 1.
node -e '
    const digest = crypto.createHash("sha256").update("proofmill".repeat(8).slice(0, 64)).digest("hex");
    const bits = JSON.parse(fs.readFileSync("sha256.wtns.json")).slice(1, 257).join("");
    if (BigInt("0b" + bits) !== BigInt("0x" + digest)) throw new Error(`not the digest ${digest}: ${bits}`);'

echo "-- wrong inputs and witnesses are refused, with the place in the circuit"
# Neither left nor right; snarkjs names the same template and line.
sed 's/"is_right": .*/"is_right": [0, 2]/' membership.json > wrong.json
snarkjs wtns calculate membership_js/membership.wasm wrong.json theirs.wtns > theirs || true
place=$(grep -oE 'Error in template Membership_[0-9]+ line: [0-9]+' theirs | head -1)
fails 1 "$place" "$proofmill" wtns calculate membership_js/membership.wasm wrong.json wrong.wtns
sed 's/"M": "1234"/"M": "1235"/' eddsa.json > wrong.json
fails 1 'Error in template ForceEqualIfEnabled_' "$proofmill" wtns calculate eddsa_js/eddsa.wasm wrong.json wrong.wtns
# The second signal is the nullifier. The values are the last part of the file.
node -e '
    const bytes = fs.readFileSync("membership.wtns");
    const count = JSON.parse(fs.readFileSync("membership.wtns.json")).length;
    bytes[bytes.length - 32 * count + 32 * 2] ^= 1;
    fs.writeFileSync("wrong.wtns", bytes);'
fails 1 'main.nullifier' "$proofmill" wtns check membership.r1cs wrong.wtns --sym membership.sym

echo "-- fullprove: from inputs to an EVM that accepts the proof"
# 9 n + 18 powers for fflonk; n is 2^15.
"$proofmill" srs new --prepared --size 2^18 --quiet powers.ptau
for system in groth16 plonk fflonk; do
    "$proofmill" "$system" setup eddsa.r1cs powers.ptau "$system.zkey"
    "$proofmill" "$system" fullprove eddsa.json eddsa_js/eddsa.wasm "$system.zkey" proof.json public.json --allow-insecure-setup
    node -e '
        const { enabled, Ax, Ay, M } = JSON.parse(fs.readFileSync("eddsa.json"));
        const signals = JSON.parse(fs.readFileSync("public.json"));
        if (signals.join() !== [enabled, Ax, Ay, M].join()) throw new Error(`other public signals: ${signals}`);'
    accepts "$system.zkey" "$system" public.json proof.json
done
