// node record.mjs RUNS.json: the rows of a record from what `proofmill bench export` wrote. Seconds are medians and minima of as many
// samples of each implementation as of the one with the fewest in its row of the bench: those were taken in alternation.

import { readFileSync } from "node:fs";
import { median } from "./median.mjs";

const { runs } = JSON.parse(readFileSync(process.argv[2]));
const power = (size) => (size > 2 ** 10 && Number.isInteger(Math.log2(size)) ? `2^${Math.log2(size)}` : size);
const key = ({ family, benchmark, size, threads }) => [family, benchmark, size, threads].join();

console.log("family,benchmark,implementation,size,threads,run,samples,median_s,min_s,peak_mb,others_share");
for (const [index, { measurements, noise }] of runs.entries()) {
    const measured = measurements.filter(({ outcome }) => outcome.status === "measured");
    for (const { row, outcome } of measured) {
        const alternating = measured.filter((other) => key(other.row) === key(row));
        const samples = Math.min(...alternating.map((other) => other.outcome.seconds.length));
        const seconds = outcome.seconds.slice(0, samples);
        const times = [median(seconds), Math.min(...seconds)].map((time) => time.toPrecision(4));
        const [circuit, peak] = [row.benchmark.replace(/\..*/, ""), outcome.peak_memory];
        const size = row.size === undefined || row.size === null ? "" : power(row.size);
        console.log(
            [row.family, circuit, row.implementation, size, row.threads, index + 1, samples, ...times]
                .concat(peak ? (peak / 1e6).toFixed(0) : "", noise.others.toFixed(2))
                .join(),
        );
    }
}
