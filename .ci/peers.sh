#!/usr/bin/env bash
# peers.sh PROOFMILL-BENCH: checks the answers of all peers to all their kernels, at the smallest sizes. Peers
# whose toolchain is missing are skipped, except for those in Rust and C.
set -euo pipefail
bench=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Speed does not matter here, and this profile builds in a third of the time.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
"$bench" run --check --peers --level portable --db "$scratch/runs.db" --json "$scratch/run.json" \
    msm/ products/ ntt/ pairing/ bls12_381/ bls/ permutations/ merkle/ goldilocks_transforms/ sha256/

node - "$scratch/run.json" lab/peers/peers.toml << 'JS'
const fs = require("node:fs");
const [run, list] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const rows = JSON.parse(run).runs[0].measurements;
for (const entry of list.split("[[peer]]").slice(1)) {
    const [peer, tool] = ["name", "needs"].map((key) => entry.match(`\n${key} = "(.*)"`)[1]);
    const outcomes = rows.filter((row) => row.row.implementation === peer).map((row) => row.outcome.status);
    const absent = outcomes.every((status) => status === "absent") && !["cargo", "make"].includes(tool);
    if (outcomes.length === 0 || !absent && outcomes.some((status) => status !== "checked")) {
        throw new Error(`expected every answer of ${peer}, found ${JSON.stringify(outcomes)}`);
    }
    console.log(`${peer}: ${absent ? "not installed" : `${outcomes.length} answers`}`);
}
JS
