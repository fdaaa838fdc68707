#!/usr/bin/env bash
# fuzz.sh SECONDS: fuzzes each target for this time, with one target per CPU in parallel. The corpus starts
# with small files of the tests.
set -euo pipefail
cargo +nightly fuzz build
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

# fuzz SECONDS FOLDER TARGET: fuzzes one target and prints its output when it has ended.
fuzz() {
    mkdir "$2/$3"
    cargo +nightly fuzz run "$3" "$2/$3" crates/ceremony/tests/data crates/circom/tests/data \
        crates/merkle/tests/data crates/pipeline/devices crates/pipeline/tests/data crates/plonk/tests/data crates/srs/tests/data crates/stark/tests/data crates/witness/tests/data examples/membership-small -- \
        -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -verbosity=0 \
        > "$2/$3.log" 2>&1
    local status=$?
    cat "$2/$3.log"
    return "$status"
}
export -f fuzz
cargo +nightly fuzz list | xargs -P "$(nproc)" -I TARGET bash -c 'fuzz "$@"' fuzz "$1" "$found" TARGET
