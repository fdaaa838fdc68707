#!/usr/bin/env bash
# Builds the tests of the arithmetic for aarch64 and runs them under qemu-user: without SVE, and then, for code
# with SVE kernels, with vectors of several lengths. Speed tests and unit tests are left out: they do not depend on the architecture.
set -euo pipefail
target=aarch64-unknown-linux-gnu
# Tests compare with blst, which contains C and assembly.
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc-12
said=$(mktemp)
trap 'rm "$said"' EXIT

# The programs of the crates' tests, of p3 those of its kernels, all built at once: alone, their dependencies would have other features and be
# built again.
declare -A folder program
select=()
for crate in sha256 field curve pairing hash ntt stark p3 pipeline circom bls groth16 merkle; do select+=(-p "proofmill-$crate"); done
built=$(cargo test --locked "${select[@]}" --test it --test kernels --no-run --target "$target" --message-format json-render-diagnostics | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        folder = message["manifest_path"].rpartition("/")[0]
        print(folder, message["executable"])')
while read -r path executable; do folder[${path##*/}]=$path program[${path##*/}]=$executable; done <<< "$built"

# emulated FEATURES LEVELS CRATE ARGUMENTS: runs a crate's tests on a CPU with these features, which must support these levels. Arguments
# that select no test fail.
emulated() {
    echo "-- $1: ${*:3}"
    (cd "${folder[$3]}" && PROOFMILL_REQUIRE_LEVELS=$2 qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "max,$1" "${program[$3]}" --quiet "${@:4}") \
        | tee "$said"
    ! grep -q '^running 0 tests' "$said" || { echo "no test is selected"; exit 1; }
}

# skip MODULE...: the arguments that leave these modules out.
skip() { printf -- '--skip %s:: ' "$@"; }

neon() { emulated sve=off portable,neon "$@"; }
export PROOFMILL_REQUIRE_SHA256=neon,arm-sha2
for crate in sha256 field curve pairing hash ntt; do neon "$crate"; done
# What verifiers say of changed proofs, and what transcripts bind, does not depend on the CPU, and takes minutes under QEMU.
neon stark $(skip security airs document challenges constants)
neon p3
# What does not run the networks' formulas does not depend on the CPU.
neon pipeline $(skip schedule compile place simulate devices explore pippenger hostile pictures)
neon circom keys::
neon bls keys:: vectors::
unset PROOFMILL_REQUIRE_SHA256
neon groth16 prove::
neon bls batch:: --skip 10_000_tries
# Checks of openings with changed bytes do not depend on the CPU, and take minutes under QEMU.
neon merkle --skip changed
for bits in 128 256 512 2048; do
    emulated "sve$bits=on" sve,sve2 field basic:: goldilocks:: goldilocks_extension::
    emulated "sve$bits=on" sve,sve2 hash poseidon:: poseidon2::
    emulated "sve$bits=on" sve,sve2 ntt goldilocks::
    emulated "sve$bits=on" sve,sve2 p3
done
# Code above the kernels does not depend on the vector length: the lengths of existing CPUs suffice.
for bits in 128 256 512; do
    emulated "sve$bits=on" sve,sve2 merkle --skip changed
done
