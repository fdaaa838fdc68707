// A program that was written for snarkjs: "folder" is an argument. It prints what does not depend on randomness.
import * as snarkjs from "snarkjs";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

const folder = process.argv.at(-1);
const path = (name) => `${folder}/${name}`;
const json = async (name) => JSON.parse(await readFile(path(name), "utf8"));
const bytes = async (name) => new Uint8Array(await readFile(path(name)));
const print = (name, value) => console.log(name, JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v)));
const shape = (value) =>
    Array.isArray(value) ? value.map(shape) : typeof value === "object" ? Object.entries(value).map(([k, v]) => [k, shape(v)]) : typeof value;
const [r1cs, ptau, wasm] = ["circuit.r1cs", "pot8.ptau", "circuit.wasm"].map(path);
const input = await json("input.json");
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

// A ceremony in memory.
const keys = [0, 1, 2].map(() => ({ type: "mem" }));
print("circuit", [...(await snarkjs.zKey.newZKey(r1cs, ptau, keys[0]))]);
const contribution = await snarkjs.zKey.contribute(keys[0], keys[1], "first", "entropy");
print("contribution", [contribution.constructor.name, contribution.length]);
const beacon = "0102030405060708090a0b0c0d0e0f10";
print("beacon", (await snarkjs.zKey.beacon(keys[1], keys[2], "last", beacon, 10)).length);
print("no beacon", await snarkjs.zKey.beacon(keys[1], { type: "mem" }, "last", beacon, 9, quiet));
print("from r1cs", await snarkjs.zKey.verifyFromR1cs(r1cs, ptau, keys[2]));
print("from init", await snarkjs.zKey.verifyFromInit(keys[0], ptau, keys[2]));

for (const [system, circuit] of [["plonk", "circuit.r1cs"], ["fflonk", "../../crates/plonk/tests/data/toy.circuit.r1cs"]]) {
    const key = { type: "mem" };
    await snarkjs[system].setup(path(circuit), ptau, key);
    print(`${system} key`, [key.data.length, createHash("sha256").update(key.data).digest("hex")]);
}

const witness = { type: "mem" };
await snarkjs.wtns.calculate(input, wasm, witness);
print("witness", await snarkjs.wtns.exportJson(witness));
print("check", await snarkjs.wtns.check(r1cs, witness));
const wrong = { type: "mem", data: witness.data.slice() };
wrong.data[wrong.data.length - 1] ^= 1;
print("check of a wrong one", await snarkjs.wtns.check(r1cs, wrong, quiet));
const { nVars, nOutputs, nPubInputs, nPrvInputs, nLabels, nConstraints } = await snarkjs.r1cs.info(r1cs);
print("info", { nVars, nOutputs, nPubInputs, nPrvInputs, nLabels, nConstraints });

// Proofs of each system, of files and of bytes.
for (const system of ["groth16", "plonk", "fflonk"]) {
    const vk = await snarkjs.zKey.exportVerificationKey(path(`${system}.zkey`));
    print(`${system} key`, vk);
    print(`${system} key of bytes`, shape(await snarkjs.zKey.exportVerificationKey(await bytes(`${system}.zkey`))));
    const { prove, fullProve, verify } = snarkjs[system];
    const first = await prove(path(`${system}.zkey`), witness);
    const second = await fullProve(input, await bytes("circuit.wasm"), await bytes(`${system}.zkey`), undefined, undefined, { singleThread: true });
    for (const { proof, publicSignals } of [first, second]) {
        print(`${system} signals`, publicSignals);
        print(`${system} proof`, shape(proof));
        print(`${system} names`, [proof.protocol, proof.curve]);
        print(`${system} verdict`, await verify(vk, publicSignals, proof, { ...quiet, error: console.error }));
        const others = [...publicSignals];
        others[0] = String(BigInt(others[0]) + 1n);
        print(`${system} other signals`, await verify(vk, others, proof, quiet));
        print(`${system} bigints`, await verify(vk, publicSignals.map(BigInt), proof));
        const tampered = JSON.parse(JSON.stringify(proof).replace(/"(\d{70,})"/, (_, digits) => `"${BigInt(digits) + 1n}"`));
        print(`${system} tampered`, await verify(vk, publicSignals, tampered, quiet));
    }
    const [proof, signals] = [await json(`${system}.proof.json`), await json("public.json")];
    const { exportSolidityCallData } = snarkjs[system];
    const calldata = await (system === "fflonk" ? exportSolidityCallData(signals, proof) : exportSolidityCallData(proof, signals));
    print(`${system} calldata`, calldata.replaceAll(" ", ""));
}

// What snarkjs's own threads need to end, and nothing else does.
await globalThis.curve_bn128?.terminate();
