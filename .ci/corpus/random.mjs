#!/usr/bin/env node
// random.mjs PROOFMILL TOOLS COUNT [SEED]: random circuits of branches, loops, arrays, functions and assertions, each compiled for one input and tried on others:
// witnesses by the WASM and by the compiled circuit are those of snarkjs's circom_runtime, byte for byte, and so is whether there is one.
// TOOLS has what corpus/package.json lists. What fails stays in a folder that is named.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run, summary } from "./packages.mjs";

const [proofmill, tools] = process.argv.slice(2, 4).map((path) => resolve(path));
const [count, seed = Math.floor(Math.random() * 1e9)] = process.argv.slice(4).map(Number);
const { WitnessCalculatorBuilder } = createRequire(join(tools, "node_modules/snarkjs/package.json"))("circom_runtime");
process.env.PROOFMILL_CIRCUIT_CACHE = "off";

const [INPUTS, ARRAY, INPUTS_TRIED] = [6, 5, 6];

// Random numbers, the same for the same seed (xorshift32).
function generator(state) {
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>> 0;
    };
    for (let round = 0; round < 16; round++) next();
    const below = (bound) => next() % bound;
    return { below, one: (list) => list[below(list.length)], chance: (percent) => below(100) < percent };
}

// A circuit's text. Circom 2.0 does not set arrays to 0. Functions get a few values and call those before them.
function circuit(random) {
    const { below, one, chance } = random;
    const constant = () => one(["0", "1", "2", "3", `${below(1000)}`, "4294967295", "21888242871839275222246405745257275088548364400416034343698204186575808495616"]);

    function expression(scope, depth) {
        if (depth === 0 || chance(15)) return chance(25) ? constant() : one(scope.values)();
        const inner = () => expression(scope, depth - 1);
        const kinds = [
            () => `(${inner()} ${one(["+", "-", "*", "+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"])} ${inner()})`,
            () => `(${inner()} / ((${inner()} & 3) + 1))`,
            () => `(${inner()} ${one(["\\", "%"])} ((${inner()} & 3) + 1))`,
            () => `(${inner()} ${one(["<<", ">>", "**"])} (${inner()} & 7))`,
            () => `(${one(["-", "~", "!"])}${inner()})`,
            () => `((${inner()} & 15) < (${inner()} & 15))`,
        ];
        if (scope.functions > 0) kinds.push(() => `f${below(scope.functions)}(${inner()}, ${inner()}, ${inner()})`);
        return one(kinds)();
    }

    // An index of the array, which may depend on inputs.
    const index = (scope) => (chance(70) ? `${below(ARRAY)}` : `((${expression(scope, 1)}) % ${ARRAY})`);

    function statements(scope, depth) {
        const lines = [];
        const condition = () => (chance(60) ? `(${expression(scope, 1)} & ${one([1, 3, 7])}) ${one(["<", "==", "!=", ">="])} ${below(4)}` : expression(scope, 2));
        for (let left = 1 + below(4); left > 0; left--) {
            const inside = () => statements(scope, depth - 1);
            const leave = () => (scope.returns && chance(15) ? [`return ${expression(scope, 2)};`] : []);
            const kind = below(depth > 0 ? 10 : 4);
            if (kind < 3) lines.push(`${chance(50) ? one(scope.variables) : `v[${index(scope)}]`} = ${expression(scope, 3)};`);
            else if (kind === 3) lines.push(`v[${index(scope)}] ${one(["+=", "-=", "*="])} ${expression(scope, 2)};`);
            else if (kind < 7) {
                lines.push(`if (${condition()}) {`, ...inside(), ...leave(), "}");
                if (chance(60)) lines.push("else {", ...inside(), ...leave(), "}");
            } else if (kind < 9) {
                const counter = `i${scope.counters++}`;
                const bound = chance(60) ? `${1 + below(5)}` : `(${expression(scope, 1)} & 3)`;
                lines.push(`for (var ${counter} = 0; ${counter} < ${bound}; ${counter}++) {`, ...inside(), `v[${counter} % ${ARRAY}] += ${expression(scope, 1)};`, "}");
            } else lines.push(`assert((${expression(scope, 2)} & 63) != ${below(64)});`);
        }
        return lines;
    }

    const scope = (functions, names, returns) => {
        const made = { functions, variables: ["x", "y", "z"], returns, counters: 0 };
        made.values = [...names, "x", "y", "z"].map((name) => () => name);
        made.values.push(() => `v[${chance(70) ? below(ARRAY) : `((${one(names)}) % ${ARRAY})`}]`);
        return made;
    };
    const functions = Array.from({ length: 3 }, (_, number) => {
        const inside = scope(number, ["a", "b", "c"], true);
        return [`function f${number}(a, b, c) {`, "    var x = a; var y = b; var z = c;", `    var v[${ARRAY}] = [${Array(ARRAY).fill(0)}];`, ...statements(inside, 2), `    return ${expression(inside, 2)};`, "}"];
    });
    const names = Array.from({ length: INPUTS }, (_, number) => `in[${number}]`);
    const main = scope(functions.length, names, false);
    return [
        "pragma circom 2.0.0;",
        ...functions.flat(),
        "template Main() {",
        `    signal input in[${INPUTS}];`,
        `    signal output out[${ARRAY + 3}];`,
        "    signal output square;",
        "    var x = in[0]; var y = in[1]; var z = in[2];",
        `    var v[${ARRAY}] = [${Array(ARRAY).fill(0)}];`,
        // A circuit's own branches on inputs assign no signals.
        ...statements(main, 2),
        ...["x", "y", "z"].map((name, number) => `    out[${number}] <-- ${name};`),
        `    for (var k = 0; k < ${ARRAY}; k++) { out[k + 3] <-- v[k]; }`,
        "    square <== in[0] * in[0];",
        "}",
        "component main = Main();",
        "",
    ].join("\n");
}

const input = ({ below, one }) => one([() => below(8), () => below(8), () => below(2 ** 31), () => below(2 ** 32), () => "21888242871839275222246405745257275088548364400416034343698204186575808495616"])();

async function theirs(wasm, inputs) {
    const { log, error } = console;
    [console.log, console.error] = [() => {}, () => {}];
    try {
        const calculator = await WitnessCalculatorBuilder(wasm, { sanityCheck: true });
        return Buffer.from(await calculator.calculateWTNSBin(inputs, true));
    } catch {
        return undefined;
    } finally {
        [console.log, console.error] = [log, error];
    }
}

// What is wrong with a circuit, if anything; and how many witnesses there were, and by the compiled circuit's graph.
async function problem(random, folder) {
    writeFileSync(join(folder, "main.circom"), circuit(random));
    const compiler = join(tools, "node_modules", random.one(["circom-2.0", "circom-2.1", "circom2", "circom2"]), "cli.js");
    const prime = compiler.includes("circom2") && random.chance(30) ? ["-p", "bls12381"] : [];
    const compiled = run(process.execPath, [compiler, "main.circom", "--wasm", ...prime], { cwd: folder });
    if (!existsSync(join(folder, "main_js/main.wasm"))) return { skipped: summary(compiled.output) };
    const wasm = readFileSync(join(folder, "main_js/main.wasm"));
    const ours = (circuit, name) => {
        const { status, output } = run(proofmill, ["wtns", "calculate", circuit, name, "ours.wtns", "-q"], { cwd: folder });
        if (![0, 1, 2].includes(status) || output.includes("panicked")) return { output };
        return { witness: status === 0 ? readFileSync(join(folder, "ours.wtns")) : undefined, output };
    };
    let [witnesses, form] = [0, undefined];
    for (let number = 0; number < INPUTS_TRIED; number++) {
        const [name, inputs] = [`input${number}.json`, { in: Array.from({ length: INPUTS }, () => input(random)) }];
        writeFileSync(join(folder, name), JSON.stringify(inputs));
        const expected = await theirs(wasm, inputs);
        witnesses += expected ? 1 : 0;
        if (expected && !form) {
            const { status, output } = run(proofmill, ["wtns", "compile", "main_js/main.wasm", name, "main.wcd", "-q"], { cwd: folder });
            if (status !== 0) return { problem: `${name}: wtns compile: ${summary(output)}` };
            form = "main.wcd";
        }
        for (const circuit of ["main_js/main.wasm", form].filter(Boolean)) {
            const { witness, output } = ours(circuit, name);
            if (witness === undefined ? expected !== undefined : !expected?.equals(witness)) {
                return { problem: `${circuit} ${name}: ${witness ? (expected ? "another witness" : "a witness where snarkjs has none") : summary(output)}` };
            }
        }
    }
    return { witnesses };
}

const random = generator(seed);
let [failures, skipped, witnesses] = [0, 0, 0];
for (let number = 0; number < count; number++) {
    const folder = mkdtempSync(join(tmpdir(), "circuit-"));
    const found = await problem(random, folder);
    if (found.problem) {
        failures++;
        console.log(`${folder}: ${found.problem}`);
    } else rmSync(folder, { recursive: true });
    if (found.skipped) {
        skipped++;
        if (process.env.VERBOSE) console.log(found.skipped);
    }
    witnesses += found.witnesses ?? 0;
}
console.log(`seed ${seed}: ${count} circuits, ${skipped} that circom refuses, ${witnesses} witnesses, ${failures} failures`);
process.exit(failures > 0 || witnesses < count ? 1 : 0);
