// Programs that were written for snarkjs run unchanged, and agree with it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import * as proofmill from "proofmill";
import * as snarkjs from "snarkjs";
import { bytes, file, json, logger, packageFolder, small, systems, text } from "./files.mjs";

after(() => globalThis.curve_bn128?.terminate());

// Runs a program; it must end by itself.
async function output(kind, source) {
    const options = [`--input-type=${kind}`, "--eval", source, small(".")];
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: packageFolder, timeout: 300_000 });
    return stdout.trimEnd().split("\n");
}

test("a program prints the same with its import changed", async () => {
    const program = text(file("crates/node/tests/program.mjs"));
    const changed = program.replace('from "snarkjs"', 'from "proofmill"');
    assert.notEqual(program, changed);
    const [theirs, ours] = await Promise.all([output("module", program), output("module", changed)]);
    assert(theirs.length > 50);
    for (const [line, expected] of theirs.entries()) assert.equal(ours[line], expected);
    assert.equal(ours.length, theirs.length);
});

test("require finds the same functions", async () => {
    const program = 'const api = require("proofmill"); console.log(Object.keys(api).map((name) => [name, ...Object.keys(api[name])].join()).join(";"))';
    const [found] = await output("commonjs", program);
    const names = Object.entries(proofmill).map(([name, members]) => [name, ...Object.keys(members)]);
    assert.deepEqual(found.split(";").sort(), names.map((each) => each.join()).sort());
    // All are snarkjs's.
    for (const [name, ...members] of names) {
        for (const member of members) assert.equal(typeof snarkjs[name][member], "function", `${name}.${member}`);
    }
});

// Each form in which snarkjs takes a file.
const forms = {
    path: (path) => path,
    file: (path) => ({ type: "file", fileName: path }),
    bytes: (path) => bytes(path),
    mem: (path) => ({ type: "mem", data: bytes(path) }),
    bigMem: (path) => ({ type: "bigMem", data: [bytes(path)] }),
};

for (const system of systems) {
    test(`${system}: each verifies the other's proofs with the other's key`, async () => {
        const zkey = small(`${system}.zkey`);
        const theirKey = await snarkjs.zKey.exportVerificationKey(zkey);
        for (const [name, form] of Object.entries(forms)) {
            const ourKey = await proofmill.zKey.exportVerificationKey(form(zkey));
            assert.deepEqual(ourKey, theirKey, name);
            const ours = await proofmill[system].prove(form(zkey), form(small("witness.wtns")));
            assert(await snarkjs[system].verify(ourKey, ours.publicSignals, ours.proof), name);
            const theirs = await snarkjs[system].prove(zkey, small("witness.wtns"));
            assert(await proofmill[system].verify(theirKey, theirs.publicSignals, theirs.proof), name);
            assert.deepEqual(ours.publicSignals, theirs.publicSignals);
            assert.deepEqual(ours.publicSignals, json(small("public.json")));
        }
        const ours = await proofmill[system].fullProve(json(small("input.json")), forms.mem(small("circuit.wasm")), zkey);
        assert(await snarkjs[system].verify(theirKey, ours.publicSignals, ours.proof));
    });

    test(`${system}: verdicts are logged`, async () => {
        const [key, signals, proof] = [`${system}.vk.json`, "public.json", `${system}.proof.json`].map((name) => json(small(name)));
        const [log, theirs] = [logger(), logger()];
        assert(await proofmill[system].verify(key, signals, proof, log));
        assert(await snarkjs[system].verify(key, signals, proof, theirs));
        assert.deepEqual(log.lines, theirs.lines.filter((line) => log.lines.some(([, message]) => line[1] === message)));
        assert.equal(log.lines.length, 1);
        signals[0] = "1";
        const [bad, worse] = [logger(), logger()];
        assert.equal(await proofmill[system].verify(key, signals, proof, bad), false);
        assert.equal(await snarkjs[system].verify(key, signals, proof, worse), false);
        const [level, message] = worse.lines.find(([, line]) => line.startsWith("Invalid"));
        assert.deepEqual(bad.lines.map(([at, line]) => [at, line.slice(0, message.length)]), [[level, message]]);
    });
}

test("keys, witnesses and contributions of each are the other's", async () => {
    const [circuit, powers] = [small("circuit.r1cs"), small("pot8.ptau")];
    const quiet = logger();
    const [ours, theirs, second, third, last] = [1, 2, 3, 4, 5].map(() => ({ type: "mem" }));
    const hash = await proofmill.zKey.newZKey(forms.bytes(circuit), forms.mem(powers), ours);
    assert.deepEqual(hash, await snarkjs.zKey.newZKey(circuit, powers, theirs));
    assert.deepEqual(ours.data, theirs.data);
    const first = await proofmill.zKey.contribute(ours, second, "ours", "entropy", quiet);
    assert.equal(first.length, 64);
    await snarkjs.zKey.contribute(second, third, "theirs", "entropy");
    const beacon = ["beacon", "0102030405060708090a0b0c0d0e0f10", "10"];
    const final = { type: "mem" };
    assert.deepEqual(
        Buffer.from(await proofmill.zKey.beacon(third, last, ...beacon)),
        Buffer.from(await snarkjs.zKey.beacon(third, final, ...beacon)),
    );
    assert.deepEqual(last.data, final.data);
    for (const { zKey } of [proofmill, snarkjs]) {
        assert(await zKey.verifyFromInit(ours, powers, last, quiet));
        assert(await zKey.verifyFromR1cs(circuit, powers, last, quiet));
        assert.equal(await zKey.verifyFromInit(ours, powers, small("plonk.zkey"), quiet).catch(() => "error"), "error");
    }
    const other = { type: "mem" };
    await proofmill.zKey.contribute(file("crates/groth16/tests/data/toy.zkey"), other);
    const log = logger();
    assert.equal(await proofmill.zKey.verifyFromR1cs(circuit, powers, other, log), false);
    assert.equal(log.lines[0][0], "error");

    const witness = { type: "bigMem" };
    await proofmill.wtns.calculate(json(small("input.json")), forms.bytes(small("circuit.wasm")), witness);
    assert.deepEqual(Buffer.concat(witness.data), Buffer.from(bytes(small("witness.wtns"))));
    assert(await snarkjs.wtns.check(circuit, witness, quiet));
});

test("inputs are numbers of all kinds", async () => {
    const input = json(small("input.json"));
    const expected = bytes(small("witness.wtns"));
    const scope = BigInt(input.scope);
    const prime = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
    const siblings = input.siblings.map(BigInt);
    for (const changes of [
        { scope },
        { scope: Number(scope) },
        { scope: `0x${scope.toString(16)}` },
        { scope: scope - prime },
        { scope: [[scope + prime]] },
        { siblings },
        { siblings: [siblings] },
    ]) {
        for (const { wtns } of [proofmill, snarkjs]) {
            const witness = { type: "mem" };
            await wtns.calculate({ ...input, ...changes }, small("circuit.wasm"), witness);
            assert.deepEqual(new Uint8Array(witness.data), expected);
        }
    }
    const typed = { type: "mem" };
    await proofmill.wtns.calculate({ ...input, scope: BigUint64Array.of(scope) }, small("circuit.wasm"), typed);
    assert.deepEqual(new Uint8Array(typed.data), expected);
});

test("Solidity verifiers are of the system", async () => {
    for (const system of systems) {
        const contract = await proofmill.zKey.exportSolidityVerifier(small(`${system}.zkey`), { [system]: "ignored" });
        assert.match(contract, /contract \w+/);
        assert.match(contract, /function verifyProof/);
    }
    const key = await proofmill.zKey.exportVerificationKey(small("fflonk.zkey"));
    assert.equal(await proofmill.fflonk.exportSolidityVerifier(key), await proofmill.zKey.exportSolidityVerifier(small("fflonk.zkey")));
});

test("what a circuit prints is printed", async (t) => {
    const input = { a: "0x2", b: [[1, 2, 3], ["-4", 5, 6]] };
    const program = file("crates/witness/tests/data/inputs.wasm");
    const printed = async ({ wtns }) => {
        const log = t.mock.method(console, "log", () => {});
        await wtns.calculate(input, program, { type: "mem" });
        log.mock.restore();
        return log.mock.calls.map((call) => call.arguments);
    };
    const ours = await printed(proofmill);
    assert.deepEqual(ours, await printed(snarkjs));
    assert.equal(ours.length, 1);
});
