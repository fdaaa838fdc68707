#!/usr/bin/env bash
# cargo xtask header [--check] BUILD: makes crates/c/include/proofmill.h from crates/c/src/lib.rs, or checks that it is up to date. BUILD
# is a folder in which cargo has built the package proofmill, such as target/debug. cbindgen must be in PATH.
set -euo pipefail
check=false
[ "${1-}" != --check ] || { check=true && shift; }
build=$(realpath "${1:?a folder such as target/debug}")
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# cbindgen does not see what macros expand to. Stable Rust prints it only with this variable.
RUSTC_BOOTSTRAP=1 rustc -Zunpretty=expanded --edition 2024 --crate-name proofmill_c --crate-type lib \
    --extern "proofmill=$build/libproofmill.rlib" -L "dependency=$build/deps" crates/c/src/lib.rs > "$folder/expanded.rs"
cbindgen --quiet --config crates/c/cbindgen.toml --output "$folder/proofmill.h" "$folder/expanded.rs"
if $check; then
    diff crates/c/include/proofmill.h "$folder/proofmill.h"
else
    cp "$folder/proofmill.h" crates/c/include
fi
