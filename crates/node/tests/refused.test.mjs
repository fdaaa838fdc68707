// What is wrong is refused: by an Error of one line, or by `false` of a verifier.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { groth16, plonk, r1cs, wtns, zKey } from "proofmill";
import * as proofmill from "proofmill";
import { bytes, json, large, logger, packageFolder, refused, small, systems } from "./files.mjs";

const folder = mkdtempSync(join(tmpdir(), "proofmill-node-"));
after(() => rmSync(folder, { recursive: true }));

test("files that are absent or something else", async () => {
    const key = small("groth16.zkey");
    await refused(groth16.prove("absent.zkey", small("witness.wtns")), "ENOENT", /^absent\.zkey: /);
    await refused(groth16.prove(key, "absent.wtns"), "ENOENT", /absent\.wtns/);
    await refused(groth16.prove(folder, small("witness.wtns")), "EISDIR", /directory/i);
    await refused(groth16.prove(small("plonk.zkey"), small("witness.wtns")), "Malformed", /plonk\.zkey: .*groth16/i);
    await refused(plonk.prove(key, small("witness.wtns")), "Malformed", /groth16\.zkey: .*plonk/i);
    await refused(groth16.prove(small("witness.wtns"), key), "Malformed", /zkey/);
    await refused(groth16.prove(key, large("witness.wtns")), "Mismatch", /witness\.wtns: /);
    await refused(r1cs.info(key), "Malformed", /r1cs/);
    await refused(zKey.exportVerificationKey(small("witness.wtns")), "Malformed", /witness\.wtns/);
    await refused(wtns.calculate({}, key, { type: "mem" }), "Malformed", /groth16\.zkey/);
});

test("bytes that are damaged", async () => {
    for (const system of systems) {
        const key = bytes(small(`${system}.zkey`));
        const witness = bytes(small("witness.wtns"));
        for (const length of [0, 1, 4, 11, 12, 100, key.length >> 1, key.length - 1]) {
            await assert.rejects(proofmill[system].prove(key.subarray(0, length), witness), { code: "Malformed" });
            await assert.rejects(zKey.exportVerificationKey(key.subarray(0, length)), { code: "Malformed" });
        }
        for (const length of [0, 12, 50, witness.length - 1]) {
            await assert.rejects(proofmill[system].prove(key, witness.subarray(0, length)), { code: "Malformed" });
        }
        witness[witness.length - 32] ^= 1;
        await assert.rejects(proofmill[system].prove(key, witness), { code: "Unsatisfied" });
    }
    const program = bytes(small("circuit.wasm"));
    for (const length of [0, 8, program.length >> 1]) {
        await refused(wtns.calculate({}, program.subarray(0, length), { type: "mem" }), "Malformed", /./);
    }
});

test("arguments of another type", async () => {
    const [type, value] = ["ERR_INVALID_ARG_TYPE", "ERR_INVALID_ARG_VALUE"];
    for (const wrong of [undefined, null, 5, true, [], {}, { type: "mem" }, { type: "mem", data: "text" }, { type: "other" }, { type: "bigMem", data: [1] }]) {
        await refused(groth16.prove(wrong, small("witness.wtns")), type, /^zkeyFileName: expected a path/);
        await refused(groth16.prove(small("groth16.zkey"), wrong), type, /^witnessFileName: /);
        await refused(zKey.exportVerificationKey(wrong), type, /^zkeyName: /);
    }
    for (const wrong of [undefined, null, 5, new Uint8Array(3), {}, { type: "file" }]) {
        await refused(wtns.calculate({}, small("circuit.wasm"), wrong), type, /^wtnsFileName: /);
    }
    for (const wrong of [undefined, null, 5, "text"]) {
        await refused(groth16.fullProve(wrong, small("circuit.wasm"), small("groth16.zkey")), type, /^input: /);
        await refused(groth16.verify(wrong, [], {}), type, /^vkVerifier: /);
        await refused(groth16.verify({}, wrong, {}), type, /^publicSignals: /);
        await refused(groth16.verify({}, [], wrong), type, /^proof: /);
    }
    for (const threads of [0, -1, 1.5, "2", NaN, 4097]) {
        await refused(groth16.prove(small("groth16.zkey"), small("witness.wtns"), null, { threads }), value, /^options\.threads: /);
    }
    const options = { level: "abacus" };
    await refused(groth16.prove(small("groth16.zkey"), small("witness.wtns"), null, options), value, /^options\.level: .*abacus/);
});

test("inputs of another circuit, and no numbers", async () => {
    const input = json(small("input.json"));
    const calculate = (changes) => wtns.calculate({ ...input, ...changes }, small("circuit.wasm"), { type: "mem" });
    await refused(calculate({ scope: undefined }), "Malformed", /scope/);
    await refused(wtns.calculate({}, small("circuit.wasm"), { type: "mem" }), "Mismatch", /./);
    await refused(calculate({ other: 1 }), "Mismatch", /other/);
    await refused(calculate({ scope: [1, 2] }), "Mismatch", /scope/);
    for (const scope of [1.5, NaN, Infinity, "abc", "", null, () => 1, Symbol("x"), [null]]) {
        await refused(calculate({ scope }), "Malformed", /scope/);
    }
    await refused(calculate({ scope: new Date(0) }), "Mismatch", /5 of/);
    const cycle = [];
    cycle.push(cycle);
    await refused(calculate({ scope: cycle }), "ERR_INVALID_ARG_VALUE", /^input: .*circular/);
    let deep = 1;
    for (let depth = 0; depth < 10000; depth++) deep = [deep];
    await refused(calculate({ scope: deep }), "ERR_INVALID_ARG_VALUE", /^input: /);
    await refused(calculate({ is_right: [2, 0] }), "Unsatisfied", /line|assert/i);
});

// Copies of a value in which one leaf is replaced.
function* changed(value, leaf) {
    for (const [key, member] of Object.entries(value)) {
        const put = (replaced) => (Array.isArray(value) ? Object.assign([...value], { [key]: replaced }) : { ...value, [key]: replaced });
        if (typeof member === "object") for (const copy of changed(member, leaf)) yield put(copy);
        else if (!["protocol", "curve"].includes(key)) yield put(leaf(member));
    }
}

const modulus = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const leaves = {
    "one more": (digits) => String(BigInt(digits) + 1n),
    "not canonical": (digits) => String(BigInt(digits) + modulus),
    "2^256": () => String(2n ** 256n),
    "negative": (digits) => `-${digits}1`,
    "no number": () => "abc",
    "empty": () => "",
    "null": () => null,
    "missing": () => undefined,
    "an object": () => ({}),
};

for (const system of systems) {
    test(`${system}: no change of a proof or its signals is accepted`, async () => {
        const [key, signals, proof] = [`${system}.vk.json`, "public.json", `${system}.proof.json`].map((name) => json(small(name)));
        const verify = (...parts) => proofmill[system].verify(key, ...parts);
        assert(await verify(signals, proof));
        for (const [name, leaf] of Object.entries(leaves)) {
            const verdicts = await Promise.all([
                ...[...changed(proof, leaf)].map((copy) => verify(signals, copy)),
                ...[...changed(signals, leaf)].map((copy) => verify(copy, proof)),
            ]);
            assert(verdicts.length > 10);
            assert(verdicts.every((verdict) => verdict === false), name);
        }
        for (const other of [[], signals.slice(1), [...signals, "0"], [...signals, ...signals]]) {
            assert.equal(await verify(other, proof), false);
        }
        for (const other of [{}, [], json(small(`${system === "plonk" ? "groth16" : "plonk"}.proof.json`))]) {
            assert.equal(await verify(signals, other), false);
        }
        // No verifier reads it.
        delete key.vk_alphabeta_12;
        const cases = [{}, [], ...changed(key, leaves["no number"]), ...changed(key, leaves.missing)];
        for (const broken of cases) await assert.rejects(proofmill[system].verify(broken, signals, proof), { code: "Malformed" });
    });
}

test("a target is written whole or not at all", async () => {
    const [input, program] = [json(small("input.json")), small("circuit.wasm")];
    await refused(wtns.calculate(input, program, join(folder, "absent", "witness.wtns")), "ENOENT", /absent/);
    const [path, memory] = [join(folder, "witness.wtns"), { type: "mem" }];
    await assert.rejects(wtns.calculate({ ...input, is_right: [2, 0] }, program, path), { code: "Unsatisfied" });
    await assert.rejects(wtns.calculate({ ...input, is_right: [2, 0] }, program, memory), { code: "Unsatisfied" });
    assert.deepEqual([readdirSync(folder), memory], [[], { type: "mem" }]);
    await wtns.calculate(input, program, path);
    assert.deepEqual(bytes(path), bytes(small("witness.wtns")));
});

test("a key to which nobody contributed needs permission", async () => {
    const key = { type: "mem" };
    await zKey.newZKey(small("circuit.r1cs"), small("pot8.ptau"), key);
    const [witness, permitted] = [small("witness.wtns"), { allowInsecureSetup: true }];
    await refused(groth16.prove(key, witness), "InsecureSetup", /anyone can forge proofs/);
    await refused(zKey.exportVerificationKey(key), "InsecureSetup", /anyone can forge proofs/);
    await refused(zKey.exportSolidityVerifier(key), "InsecureSetup", /anyone can forge proofs/);
    const log = logger();
    const { proof, publicSignals } = await groth16.prove(key, witness, log, permitted);
    const vk = await zKey.exportVerificationKey(key, log, permitted);
    await refused(groth16.verify(vk, publicSignals, proof), "InsecureSetup", /anyone can forge proofs/);
    assert(await groth16.verify(vk, publicSignals, proof, log, permitted));
    assert.deepEqual(log.lines.map(([level]) => level), ["warn", "warn", "warn", "info"]);
    const files = [small("circuit.r1cs"), small("pot8.ptau"), key];
    const initial = { type: "mem", data: key.data };
    await refused(zKey.verifyFromR1cs(...files), "InsecureSetup", /nobody contributed/);
    await refused(zKey.verifyFromInit(initial, ...files.slice(1)), "InsecureSetup", /nobody contributed/);
    assert(await zKey.verifyFromR1cs(...files, log, permitted));
    assert(await zKey.verifyFromInit(initial, ...files.slice(1), log, permitted));
    assert.match(log.lines.at(-2).join(), /^warn,.*nobody contributed/);
    // A beacon's secret is public.
    const beacon = { type: "mem" };
    await zKey.beacon(key, beacon, "beacon", "0102030405060708090a0b0c0d0e0f10", 10);
    await refused(zKey.verifyFromR1cs(...files.slice(0, 2), beacon), "InsecureSetup", /only beacons contributed/);
    await refused(groth16.prove(beacon, witness), "InsecureSetup", /only beacons contributed/);

    // For a program that does not know the option.
    const program = `
        const { groth16, zKey } = require("proofmill");
        const key = { type: "mem" };
        zKey.newZKey(${JSON.stringify(small("circuit.r1cs"))}, ${JSON.stringify(small("pot8.ptau"))}, key)
            .then(() => groth16.prove(key, ${JSON.stringify(witness)}))
            .then(() => console.log("proved"), (error) => console.log(error.code));`;
    for (const [value, expected] of [["1", "proved"], ["true", "proved"], ["0", "InsecureSetup"], ["", "InsecureSetup"]]) {
        const env = { ...process.env, PROOFMILL_ALLOW_INSECURE_SETUP: value };
        const printed = execFileSync(process.execPath, ["--eval", program], { cwd: packageFolder, env, stdio: ["ignore", "pipe", "ignore"] });
        assert.equal(printed.toString().trim(), expected, value);
    }
});
