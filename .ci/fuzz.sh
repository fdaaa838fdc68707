#!/usr/bin/env bash
# fuzz.sh SECONDS: fuzzes each target for so long, beginning with the small files of the tests.
set -euo pipefail
cargo +nightly fuzz build
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in $(cargo +nightly fuzz list); do
    mkdir "$found/$target"
    cargo +nightly fuzz run "$target" "$found/$target" crates/circom/tests/data \
        crates/merkle/tests/data crates/plonk/tests/data crates/srs/tests/data examples/membership-small -- \
        -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -verbosity=0
done
