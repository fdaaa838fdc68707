#!/usr/bin/env bash
# platform.sh PROOFMILL-BENCH: runs the platform suite with short times. Rows of installed programs must be
# measured, and no server may outlive a run, in whatever way the run ends.
set -euo pipefail
cd "$(dirname "$0")/.."
bench=$(realpath "$1")
lab/platform/install.sh || echo "not everything could be installed: rows of missing programs must be marked as absent"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PROOFMILL_BENCH_DB=$folder/bench.db TMPDIR=$folder/tmp
mkdir "$TMPDIR"
# A server's workers run as `nobody`.
chmod 755 "$folder" "$TMPDIR"

# Servers that this script has started.
pgrep -x nginx | sort > "$folder/before" || true
servers() { { pgrep -x nginx || true; } | sort | comm -13 "$folder/before" -; }

# Short samples where possible, then programs that need whole seconds.
"$bench" platform --only gzip,brotli,go,luajit --time 10ms --watts 100 --price-per-hour 2 --json "$folder/short.json"
"$bench" platform --only openssl,https --samples 1 --json "$folder/long.json"
node - "$folder/short.json" "$folder/long.json" <<'CHECK'
const { execSync } = require("child_process");
const programs = { openssl: "openssl", go: "go", luajit: "luajit", https: "nginx" };
const path = `${process.env.PATH}:/usr/sbin:/sbin:/usr/local/go/bin`;
const installed = (program) => {
    try { execSync(`command -v ${program}`, { env: { PATH: path }, stdio: "ignore" }); return true; } catch { return false; }
};
const rows = process.argv.slice(2).flatMap((file) => JSON.parse(require("fs").readFileSync(file)).runs[0].measurements);
const wrong = rows.filter(({ row, outcome }) => {
    if (outcome.status === "measured") return !outcome.seconds.every((seconds) => seconds > 0);
    const program = programs[row.family.split("-")[0]];
    return outcome.status !== "absent" || !program || installed(program);
});
for (const { row, outcome } of wrong) console.log(row.family, row.benchmark, row.threads, JSON.stringify(outcome));
const threads = new Set(rows.map(({ row }) => row.threads));
console.log(`${rows.length} rows, ${rows.length - wrong.length} as expected, on ${[...threads].join(" and ")} threads`);
process.exit(wrong.length > 0 || rows.length < 62 ? 1 : 0);
CHECK

gone() {
    for _ in $(seq 100); do
        [ -z "$(servers)" ] && return
        sleep 0.1
    done
    echo "$1: a server is left running: $(servers)"
    return 1
}
gone "a run that ended"
if PATH=$PATH:/usr/sbin command -v nginx > /dev/null && command -v wrk > /dev/null; then
    for signal in KILL TERM; do
        "$bench" platform --only https --time 60s > "$folder/killed" 2>&1 &
        run=$!
        for _ in $(seq 300); do
            [ -n "$(servers)" ] && break
            kill -0 "$run" 2> /dev/null || { cat "$folder/killed"; exit 1; }
            sleep 0.1
        done
        [ -n "$(servers)" ] || { echo "no server came up"; exit 1; }
        kill -"$signal" "$run"
        wait "$run" || true
        gone "a run that SIG$signal ended"
        [ "$signal" = KILL ] || [ -z "$(ls "$TMPDIR")" ] || { echo "left behind: $(ls "$TMPDIR")"; exit 1; }
        rm -rf "${TMPDIR:?}"/*
    done
fi
echo "no server is left"
