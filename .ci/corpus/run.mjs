#!/usr/bin/env node
// run.mjs PROOFMILL TOOLS CACHE [NAME...]: circuits, keys and inputs of other people's projects (circuits.json), by Proofmill and by snarkjs.
// TOOLS has what corpus/package.json lists; packages are fetched from the registry into CACHE. Writes docs/compatibility.md's table.
// With KEEP=FOLDER it keeps there what `wtns calculate` needs: PROJECT-CIRCUIT.wasm, .wcd, compiled for other inputs, and .json.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { inputs } from "./inputs.mjs";
import { Failure, fetch, run, succeed, summary } from "./packages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [proofmill, tools, cache] = process.argv.slice(2, 5).map((path) => resolve(path));
const wanted = process.argv.slice(5);
const compilers = { 1: "circom/cli.js", "2.0": "circom-2.0/cli.js", 2.1: "circom-2.1/cli.js", 2.2: "circom2/cli.js" };
process.env.PROOFMILL_CIRCUIT_CACHE = "off";

const ours = (...words) => succeed(proofmill, ...words, "-q");
const snarkjs = (...words) => succeed(process.execPath, join(tools, "node_modules/snarkjs/build/cli.cjs"), ...words);

function same(one, other, what) {
    if (!readFileSync(one).equals(readFileSync(other))) throw new Failure(`${what} differs from snarkjs's`);
}

// The circuit's WASM and constraints in a folder. Circom 2 in WASM sees nothing outside of the folder that it runs in, which is the cache.
function compile({ package: specification, source, file, main, prime = "bn128", circom = "2.2", with: others = [], inside = {} }) {
    const folder = process.cwd();
    const packages = [specification ?? "circomlib@2.0.5", "circomlib@2.0.5", ...others].map((name) => fetch(cache, name));
    Object.entries(inside).forEach(([name, place]) => fetch(cache, name, join(packages[0], place)));
    const libraries = packages.flatMap((path) => [join(path, "circuits"), join(path, "circom"), join(path, "src"), path.replace(/node_modules\/.*/, "node_modules")]);
    const [first, work] = [circom === "1" ? "" : "pragma circom 2.0.0;\n", relative(cache, folder)];
    if (source) copyFileSync(join(here, source), join(folder, "main.circom"));
    else writeFileSync(join(folder, "main.circom"), `${first}include "${relative(folder, join(packages[0], file))}";\ncomponent main = ${main};\n`);
    const words = {
        1: ["-r", `${work}/main.r1cs`, "-w", `${work}/main.wasm`],
        "2.0": ["--r1cs", "--wasm", "-o", work],
    }[circom] ?? ["--r1cs", "--wasm", "--O1", "-p", prime, "-o", work];
    if (circom > "2.0") words.push(...libraries.filter(existsSync).flatMap((path) => ["-l", relative(cache, path)]));
    const { status, output } = run(process.execPath, [join(tools, "node_modules", compilers[circom]), `${work}/main.circom`, ...words], { cwd: cache });
    if (status !== 0) throw new Failure(`circom: ${summary(output)}`);
    return { wasm: circom === "1" ? "main.wasm" : "main_js/main.wasm", r1cs: "main.r1cs" };
}

async function check(entry) {
    const folder = entry.wasm ? fetch(cache, entry.package) : undefined;
    const inside = (name) => entry[name] && join(folder, entry[name]);
    const { wasm, r1cs } = entry.wasm ? { wasm: inside("wasm"), r1cs: inside("r1cs") } : compile(entry);
    const result = { version: entry.wasm ? "" : entry.circom ?? "2.2", curve: entry.prime === "bls12381" ? "BLS12-381" : "BN254" };
    for (const name of ["sample", "other"]) writeFileSync(`${name}.json`, JSON.stringify(await inputs(entry.inputs, tools)));
    snarkjs("wtns", "calculate", wasm, "other.json", "theirs.wtns");
    ours("wtns", "calculate", wasm, "other.json", "ours.wtns");
    same("ours.wtns", "theirs.wtns", "the witness");
    ours("wtns", "compile", wasm, "sample.json", "main.wcd");
    ours("wtns", "calculate", "main.wcd", "other.json", "ours.wtns");
    same("ours.wtns", "theirs.wtns", "the compiled circuit's witness");
    if (process.env.KEEP) {
        const name = `${entry.project} ${entry.circuit}`.replaceAll(/\W+/g, "-").replace(/-$/, "");
        for (const [file, end] of [[wasm, "wasm"], ["main.wcd", "wcd"], ["other.json", "json"]]) {
            copyFileSync(file, join(process.env.KEEP, `${name}.${end}`));
        }
    }
    result.wires = JSON.parse(run(proofmill, ["info", "ours.wtns", "--json"]).output).result.counts.wires;
    if (entry.refused) {
        const { status, output } = run(proofmill, ["wtns", "check", r1cs, "ours.wtns", "-q"]);
        if (status !== 2 || !output.includes(entry.refused)) throw new Failure(`expected "${entry.refused}": ${summary(output)}`);
        result.works = `the witness; \`wtns check\`, setups and proofs refuse ${entry.refused}`;
    } else if (r1cs) {
        ours("wtns", "check", r1cs, "ours.wtns");
        result.constraints = JSON.parse(run(proofmill, ["r1cs", "info", r1cs, "--json"]).output).result.counts.constraints;
    }
    if (entry.zkey) {
        prove(inside("zkey"), inside("vkey"));
        result.key = run(proofmill, ["zkey", "audit", inside("zkey"), "-q"]).status === 0 ? "sound" : "insecure";
    } else if (result.constraints <= 1 << 12 && entry.prime === undefined) {
        setUp(r1cs, result.constraints);
        result.key = "the same bytes";
    }
    return result;
}

// Proofs of the key are accepted by both.
function prove(zkey, vkey) {
    const allow = "--allow-insecure-setup";
    ours("zkey", "export", "verificationkey", zkey, "vk.json", allow);
    ours("groth16", "prove", zkey, "ours.wtns", "proof.json", "public.json", allow);
    ours("groth16", "verify", "vk.json", "public.json", "proof.json", allow);
    for (const key of ["vk.json", vkey].filter(Boolean)) {
        if (!snarkjs("groth16", "verify", key, "public.json", "proof.json").includes("OK!")) throw new Failure("snarkjs rejects the proof");
    }
}

// Setups of both give the same bytes, and proofs of the key are accepted.
function setUp(r1cs, constraints) {
    const power = Math.max(4, Math.ceil(Math.log2(constraints + 200)));
    const ptau = join(cache, `powers-${power}.ptau`);
    if (!existsSync(ptau)) ours("srs", "new", "--prepared", "--size", `2^${power}`, ptau);
    ours("groth16", "setup", r1cs, ptau, "ours.zkey");
    snarkjs("groth16", "setup", r1cs, ptau, "theirs.zkey");
    same("ours.zkey", "theirs.zkey", "the key");
    prove("ours.zkey");
}

const results = [];
const list = JSON.parse(readFileSync(join(here, "circuits.json")));
for (const entry of list) {
    const name = `${entry.project}: ${entry.circuit}`;
    if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
    const folder = mkdtempSync(join(cache, "work-"));
    process.chdir(folder);
    const start = performance.now();
    let result;
    try {
        result = await check(entry);
    } catch (error) {
        if (!(error instanceof Failure)) throw error;
        result = { problem: error.message };
    }
    console.log(`${name}: ${result.problem ?? "passed"} (${((performance.now() - start) / 1000).toFixed(0)} s) ${JSON.stringify(result)}`);
    results.push({ ...entry, ...result });
    process.chdir(here);
    rmSync(folder, { recursive: true });
}

// One line for each circuit.
function table() {
    const page = resolve(here, "../../docs/compatibility.md");
    const cells = ({ project, circuit, package: from, version, curve, constraints, wires, works = "yes", key = "", problem }) =>
        [project, circuit, from ? `\`${from}\`` : "", version, curve, constraints ?? "", wires, problem ?? works, key];
    const rows = results.map((result) => `| ${cells(result).join(" | ")} |`);
    const heads = "| project | circuit | package | circom | curve | constraints | wires | works | Groth16 key |\n|---|---|---|---|---|---:|---:|---|---|";
    const [before, , after] = readFileSync(page, "utf8").split(/<!-- (?:corpus|\/) -->\n/);
    writeFileSync(page, `${before}<!-- corpus -->\n${heads}\n${rows.join("\n")}\n<!-- / -->\n${after}`);
}

if (wanted.length === 0) table();
process.exit(results.some(({ problem }) => problem) ? 1 : 0);
