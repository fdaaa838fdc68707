#!/usr/bin/env bash
# Builds everything for aarch64 and runs the tests of the arithmetic under qemu-user: without SVE, and with vectors of
# several lengths, where only what has SVE kernels is run again.
set -euo pipefail
target=aarch64-unknown-linux-gnu
# Tests compare with blst, which has C and assembly in it.
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc-12

# emulated FEATURES LEVELS ARGUMENTS: cargo test on a CPU with the features, which must have the levels.
emulated() {
    echo "-- $1: ${*:3}"
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,$1" \
        PROOFMILL_REQUIRE_LEVELS=$2 cargo test --quiet --locked --target "$target" "${@:3}"
}

cargo build --quiet --locked --workspace --target "$target"
PROOFMILL_REQUIRE_SHA256=neon,arm-sha2 emulated sve=off portable,neon --package proofmill-sha256
emulated sve=off portable,neon --package proofmill-field --package proofmill-curve --package proofmill-hash \
    --package proofmill-poly
emulated sve=off portable,neon --package proofmill-bls --test keys --test vectors
# What an opening with a changed byte is worth does not depend on the CPU, and takes minutes here.
emulated sve=off portable,neon --package proofmill-merkle -- --skip changed
for bits in 128 256 512 2048; do
    emulated "sve$bits=on" sve,sve2 --package proofmill-field --test basic --test goldilocks_extension
    emulated "sve$bits=on" sve,sve2 --package proofmill-hash
    emulated "sve$bits=on" sve,sve2 --package proofmill-poly --test goldilocks
done
# What is above the kernels does not know how long vectors are: the lengths that CPUs have will do.
for bits in 128 256 512; do
    emulated "sve$bits=on" sve,sve2 --package proofmill-merkle -- --skip changed
done
