#!/usr/bin/env bash
# fuzz.sh SECONDS: fuzzes each target for so long, beginning with the examples' files.
set -euo pipefail
cargo +nightly fuzz build
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
cp examples/membership-small/* crates/circom/tests/data/* "$corpus"
for target in $(cargo +nightly fuzz list); do
    found=$(mktemp -d -p "$corpus")
    cargo +nightly fuzz run "$target" "$found" "$corpus" -- \
        -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
done
