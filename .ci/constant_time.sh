#!/usr/bin/env bash
# Runs what handles secret keys under valgrind with the keys marked as undefined: memcheck reports every branch and every
# address that depends on one. As it is shipped, that is optimised and without debug assertions. x86-64 only; valgrind has
# no AVX-512.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "skipped: $(uname -m)"; exit 0; }
program=target/ci/constant-time/release/examples/constant_time
# A profile of its own: link-time optimisation over one small program would take longer than all the rest.
CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 cargo build --quiet --locked --release --target-dir target/ci/constant-time \
    --package proofmill-bls --example constant_time
checked() { valgrind --quiet --error-exitcode=9 --suppressions=.ci/constant_time.supp "$program" "$1"; }
for level in portable adx; do
    echo "-- $level"
    checked "$level"
done
# What must be reported.
echo "-- leak"
if checked leak; then
    echo "a branch on a secret was not reported"
    exit 1
elif [ $? -ne 9 ]; then
    exit 1
fi
