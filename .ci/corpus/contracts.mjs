#!/usr/bin/env node
// contracts.mjs PROOFMILL CACHE: audits of the verifiers and libraries in other people's packages (contracts.json), against what is expected of each:
// exit status, contracts with a key, parts that are missing, number of keys, ceremony. Packages are fetched from the registry into CACHE.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fetch, run, summary } from "./packages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [proofmill, cache] = process.argv.slice(2, 4).map((path) => resolve(path));
mkdirSync(cache, { recursive: true });

// A file of a package: `name@version/path`.
function file(name) {
    const [, specification, path] = name.match(/^(@?[^@]+@[^/]+)\/(.*)$/);
    return join(fetch(cache, specification), path);
}

// What an audit finds, in the form of the list.
function audit({ files, zkey }) {
    const source = join(cache, "source.sol");
    writeFileSync(source, files.map((name) => readFileSync(file(name), "utf8")).join("\n"));
    const { status, output } = run(proofmill, ["zkey", "audit", source, ...(zkey ? ["--zkey", file(zkey)] : []), "--json", "--allow-insecure-setup"]);
    const json = output.split("\n").find((line) => line.startsWith("{"));
    const { result: { contracts = [] } = {} } = json ? JSON.parse(json) : {};
    const found = { status, contracts: contracts.map(({ contract }) => contract) };
    const [first] = contracts;
    if (first?.missing.length > 0) found.missing = first.missing;
    if (first?.deltas > 1) found.keys = first.deltas;
    if (first?.ceremony) found.ceremony = first.ceremony;
    return [found, output];
}

let failures = 0;
for (const { files, zkey, expected } of JSON.parse(readFileSync(join(here, "contracts.json")))) {
    const [found, output] = audit({ files, zkey });
    const passes = JSON.stringify(found) === JSON.stringify(expected);
    failures += passes ? 0 : 1;
    console.log(`${files.join(" ")}: ${passes ? "passed" : `FAILED: ${JSON.stringify(found)} ${summary(output)}`}`);
}
process.exit(failures > 0 ? 1 : 0);
