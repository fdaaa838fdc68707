// node goldilocks.mjs RUNS.json PEERS.csv FOLDER: writes permutations.csv, merkle.csv and goldilocks_transforms.csv into FOLDER, from what
// `proofmill bench export` wrote and peers/programs/goldilocks printed. Benchmarks have the program's names.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const median = (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};
const [runs, peers, folder] = process.argv.slice(2);
const power = (size) => `2^${Math.log2(size)}`;

// By family: the beginning of the program's names; its name of a benchmark, and what it adds to that of the implementation.
const permutation = ({ benchmark, size }) => [`${size} ${benchmark.replace("-", " ")}`, ""];
const tree = ({ benchmark, size }) => [`merkle ${benchmark} ${power(size)} x 8`, ""];
const transform = ({ benchmark, size }) => {
    const [kind] = benchmark.split("-");
    const [, columns] = benchmark.match(/(\d+)-columns/) ?? [];
    const shape = `${kind} goldilocks ${power(size)}`;
    if (kind === "evaluate") {
        return [`${shape} x ${columns ?? 1}`, benchmark.includes("values") ? "-values" : "-coefficients"];
    }
    if (kind === "lde") return [`${shape} x ${columns} by 2`, "-reversed"];
    return [columns ? `${shape} x ${columns}` : shape, benchmark.endsWith("-reversed") ? "-reversed" : ""];
};
const families = [
    ["permutations", /^\d/, permutation],
    ["merkle", /^merkle/, tree],
    ["goldilocks_transforms", /^(ntt|lde)/, transform],
];

const peerRows = readFileSync(peers, "utf8").trim().split("\n");
const measured = JSON.parse(readFileSync(runs)).runs.flatMap(({ measurements }) =>
    measurements.filter(({ outcome }) => outcome.status === "measured"),
);
const oneThread = new Map();
for (const [family, beginning, name] of families) {
    const rows = measured.filter(({ row }) => row.family === family).map(({ row, outcome }) => {
        const [benchmark, suffix] = name(row);
        const milliseconds = median(outcome.seconds) * 1e3;
        const key = `${benchmark},${row.implementation}${suffix}`;
        if (row.threads === 1) oneThread.set(key, milliseconds);
        const ratio = row.threads > 1 && oneThread.has(key) ? (oneThread.get(key) / milliseconds).toFixed(2) : "";
        return [key, row.threads, outcome.clock, milliseconds.toFixed(4), ratio && "1 thread", ratio].join();
    });
    const header = "benchmark,implementation,threads,clock,median_ms,against,ratio";
    const lines = [header, ...rows, ...peerRows.filter((row) => beginning.test(row))];
    writeFileSync(join(folder, `${family}.csv`), lines.join("\n") + "\n");
}
