#!/usr/bin/env bash
# Type-checks everything for aarch64, builds the integration tests of the arithmetic and runs them under
# qemu-user: without SVE, and then, for code with SVE kernels, with vectors of several lengths. Speed tests
# and unit tests are left out: they do not depend on the architecture.
set -euo pipefail
shopt -s nullglob
target=aarch64-unknown-linux-gnu
# Tests compare with blst, which contains C and assembly.
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc-12

# tests CRATE...: prints the arguments that select the crates' integration tests, but for those of speed and those that do not depend on
# kernels.
tests() {
    local crate file
    for crate in "$@"; do
        for file in crates/"$crate"/tests/*.rs crates/"$crate"/tests/*/main.rs; do
            file=${file#crates/*/tests/} file=${file%/main.rs}
            case $file in
                speed.rs | security.rs | airs.rs | document.rs) ;;
                schedule.rs | compile.rs | place.rs | simulate.rs | devices.rs | explore.rs | pippenger.rs) ;;
                hostile.rs | pictures.rs) ;;
                *) echo --test "${file%.rs}" ;;
            esac
        done
    done
}

# emulated FEATURES LEVELS ARGUMENTS: runs cargo test on a CPU with these features, which must support these
# levels.
emulated() {
    echo "-- $1: ${*:3}"
    # The whole workspace is selected: with single packages, dependencies would have other features and be
    # rebuilt.
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max,$1" \
        PROOFMILL_REQUIRE_LEVELS=$2 cargo test --quiet --locked --workspace --target "$target" "${@:3}"
}

arithmetic=($(tests sha256 field curve pairing hash poly stark p3 pipeline) --test keys --test vectors)
cargo check --quiet --locked --workspace --lib --bins --target "$target"
cargo build --quiet --locked --workspace "${arithmetic[@]}" --test merkle --target "$target"
# What verifiers say of changed proofs, and what transcripts bind, does not depend on the CPU, and takes minutes under QEMU.
PROOFMILL_REQUIRE_SHA256=neon,arm-sha2 emulated sve=off portable,neon "${arithmetic[@]}" -- \
    --skip verifier:: --skip blinded_proofs:: --skip challenges:: --skip constants::
# Groth16 and BLS on the same kernels; PLONK's tests of these names are too slow, and so are ten thousand verifications.
emulated sve=off portable,neon --exclude proofmill-plonk --test prove --test batch -- --skip 10_000_tries
# Checks of openings with changed bytes do not depend on the CPU, and take minutes under QEMU.
emulated sve=off portable,neon --test merkle -- --skip changed
for bits in 128 256 512 2048; do
    emulated "sve$bits=on" sve,sve2 --test basic --test goldilocks_extension --test poseidon --test poseidon2 --test goldilocks --test kernels
done
# Code above the kernels does not depend on the vector length: the lengths of existing CPUs suffice.
for bits in 128 256 512; do
    emulated "sve$bits=on" sve,sve2 --test merkle -- --skip changed
done
