// The runner of the kernels of ffjavascript, snarkjs's arithmetic. lab/peers/README.md describes the protocol.

import { buildBls12381, buildBn128 } from "ffjavascript";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import os from "node:os";
import { createInterface } from "node:readline";

/** Functions that build curves, by the curves' names in kernels. */
const curves = { "bn254": buildBn128, "bls12-381": buildBls12381 };

/** The curve with this name, on `threads` threads. */
async function curve(name, threads) {
    // ffjavascript starts one worker per CPU that `os.cpus` lists.
    os.cpus = () => new Array(threads);
    return await curves[name](threads === 1);
}

/** Elements in Montgomery form from little-endian integers of the field's length. */
function elements(field, bytes) {
    const all = new Uint8Array(bytes.length);
    for (let at = 0; at < bytes.length; at += field.n8) all.set(field.fromRprLE(bytes, at), at);
    return all;
}

/** The encoding that `elements` reads. */
function integers(field, bytes) {
    const all = new Uint8Array(bytes.length);
    for (let at = 0; at < bytes.length; at += field.n8) field.toRprLE(all, at, bytes.slice(at, at + field.n8));
    return all;
}

/** The sum of scalars times points. */
async function sum([, name, group], { size, threads, input }) {
    const on = await curve(name, threads);
    const G = on[group.toUpperCase()];
    const pointBytes = size * 2 * G.F.n8;
    check(input, pointBytes + size * on.Fr.n8);
    const points = elements(on.F1, input.slice(0, pointBytes));
    const scalars = input.slice(pointBytes);
    let result;
    return {
        run: async () => { result = G.toAffine(await G.multiExpAffine(points, scalars)); },
        output: () => integers(on.F1, result),
    };
}

/** Coefficients to values, both in natural order; each run transforms the values of the previous one. */
async function transform(_, { size, threads, input }) {
    const { Fr } = await curve("bn254", threads);
    check(input, size * Fr.n8);
    let values = elements(Fr, input);
    return {
        run: async () => { values = await Fr.fft(values); },
        output: () => integers(Fr, values),
    };
}

function check(input, length) {
    if (input.length !== length) throw new Error(`expected ${length} bytes of input, found ${input.length}`);
}

/** Patterns of kernels' names, with their functions. The distribution of the scalars does not change the function. */
const kernels = [
    [/^msm\/(bn254|bls12-381)-(g1|g2)(?:-equal|-bits)?$/, sum],
    [/^ntt\/bn254-fr$/, transform],
];

async function prepare(task) {
    for (const [pattern, make] of kernels) {
        const name = pattern.exec(task.kernel);
        if (name) return await make(name, task);
    }
    throw new Error(`no kernel ${task.kernel}`);
}

async function serve() {
    const [kernel, size, threads, path] = process.argv.slice(2);
    const lines = createInterface({ input: process.stdin });
    // The bench has ended.
    lines.on("close", () => process.exit(0));
    const requests = lines[Symbol.asyncIterator]();
    const input = new Uint8Array(readFileSync(path));
    const work = await prepare({ kernel, size: Number(size), threads: Number(threads), input });
    await work.run();
    const digest = createHash("sha256").update(work.output()).digest("hex").slice(0, 16);
    const { version } = JSON.parse(readFileSync(new URL("node_modules/snarkjs/package.json", import.meta.url)));
    console.log(`ready ${digest} ${version}`);
    for await (const request of requests) {
        const iterations = /^run (\d+)$/.exec(request)?.[1];
        if (iterations === undefined) throw new Error(`expected run N, found ${request}`);
        const wall = process.hrtime.bigint(), cpu = process.cpuUsage();
        for (let done = 0; done < Number(iterations); done++) await work.run();
        const passed = process.hrtime.bigint() - wall, { user, system } = process.cpuUsage(cpu);
        console.log(`done ${passed} ${(user + system) * 1000}`);
    }
}

try {
    await serve();
} catch (error) {
    console.log(`error ${error.message}`);
    process.exit(1);
}
