// Work does not hold up the event loop, Node's pool or the end of the process, and keeps no memory.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import { groth16 } from "proofmill";
import { bytes, json, large, packageFolder, small } from "./files.mjs";

const [key, witness] = [large("circuit.zkey"), large("witness.wtns")];

// Runs a program with the package's functions, which must end by itself.
function run(program) {
    const source = `const { groth16 } = require("proofmill"); const [key, witness] = ${JSON.stringify([key, witness])}; ${program}`;
    return promisify(execFile)(process.execPath, ["--eval", source], { cwd: packageFolder, timeout: 120_000 });
}

test("timers fire during a proof", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await groth16.prove(key, witness);
    clearInterval(timer);
    assert(ticks > 3, `${ticks} ticks`);
});

test("files are read while proofs wait", async () => {
    let proved = 0;
    const proofs = Array.from({ length: 16 }, () => groth16.prove(key, witness).then(() => proved++));
    await readFile(small("input.json"));
    assert(proved < 8, `${proved} proofs were made before a file was read`);
    await Promise.all(proofs);
    assert.equal(proved, 16);
});

test("the process ends when the last promise is settled, and not before", async () => {
    const { stdout } = await run('groth16.prove(key, witness).then(() => console.log("proved"));');
    assert.equal(stdout, "proved\n");
});

test("the process can end during a proof", async () => {
    const ended = run("groth16.prove(key, witness); setTimeout(() => process.exit(7), 20);");
    await assert.rejects(ended, (error) => error.code === 7 && error.signal === null);
});

test("a rejection that nobody handles ends the process with its message", async () => {
    await assert.rejects(run('groth16.prove("absent.zkey", witness);'), ({ code, stderr }) => {
        assert.match(stderr, /Error: absent\.zkey: .*\n\s+at /);
        return code === 1;
    });
});

test("workers prove, and can be ended while they do", async () => {
    const { stdout } = await run(`
        const { Worker } = require("node:worker_threads");
        const source = 'const { workerData } = require("node:worker_threads");' +
            'require("proofmill").groth16.prove(...workerData).then(({ publicSignals }) => console.log(publicSignals.length > 0));';
        const worker = () => new Worker(source, { eval: true, workerData: [key, witness] });
        const ended = (worker) => new Promise((resolve) => worker.on("exit", resolve));
        (async () => {
            await ended(worker());
            const second = worker();
            await new Promise((resolve) => second.on("online", resolve));
            setTimeout(() => second.terminate(), 100);
            await ended(second);
            await groth16.prove(key, witness);
            console.log("done");
        })();`);
    assert.match(stdout, /^true\n(true\n)?done\n$/);
});

test("repeated proofs take no more memory", async () => {
    const contents = [bytes(key), bytes(witness)];
    const input = [json(small("input.json")), bytes(small("circuit.wasm")), bytes(small("groth16.zkey"))];
    const prove = async (times) => {
        for (let time = 0; time < times; time++) {
            await groth16.prove(...contents);
            await groth16.fullProve(...input);
        }
        return process.memoryUsage.rss();
    };
    const before = await prove(10);
    const growth = (await prove(40)) - before;
    // The keys alone, kept, would be 240 MiB.
    assert(growth < 60 << 20, `${growth >> 20} MiB more`);
});
