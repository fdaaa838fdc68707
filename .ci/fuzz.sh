#!/usr/bin/env bash
# fuzz.sh SECONDS [address]: fuzzes each target for this time, with one target per CPU in parallel; with `address` by AddressSanitizer, which needs
# a nightly Rust, otherwise with portable kernels alone, which are compiled in a fraction of the time. The corpus starts with small files of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
# What libFuzzer reads, as `cargo fuzz` sets it.
flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
toolchain=() target=target/fuzz/plain
if [ "${2-}" = address ]; then
    flags+=" -Zsanitizer=address" toolchain=(+nightly) target=target/fuzz/address
else
    flags+=" --cfg proofmill_portable"
fi
# For a named target, because flags are then not those of build scripts.
RUSTFLAGS=$(tr -s ' \n' ' ' <<< "$flags") cargo "${toolchain[@]}" build --quiet --locked --manifest-path fuzz/Cargo.toml --bins \
    --target "$host" --target-dir "$target"

found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
corpus=(examples/membership-small lab/pipeline/devices lab/pipeline/tests/data crates/{ceremony,circom,merkle,plonk,solidity,srs,stark,witness}/tests/data)
export found

# fuzz SECONDS PROGRAM CORPUS...: fuzzes one target and prints its output when it has ended.
fuzz() {
    local name status=0
    name=$(basename "$2")
    mkdir "$found/$name"
    "$2" "$found/$name" "${@:3}" -artifact_prefix="target/fuzz/$name-" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -print_final_stats=1 -verbosity=0 > "$found/$name.log" 2>&1 || status=$?
    echo "-- $name"
    cat "$found/$name.log"
    return "$status"
}
export -f fuzz
find "$target/$host/debug" -maxdepth 1 -type f -executable | sort |
    xargs -P "$(nproc)" -I PROGRAM bash -c 'fuzz "$@"' fuzz "$1" PROGRAM "${corpus[@]}"
