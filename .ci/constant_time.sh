#!/usr/bin/env bash
# Runs code with secret keys under valgrind, with the keys marked as undefined: memcheck reports every branch
# and every address that depends on a key. The build is the shipped one: optimised, without debug assertions.
# x86-64 only; valgrind does not support AVX-512.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "skipped: $(uname -m)"; exit 0; }
program=target/ci/constant-time/release/examples/constant_time
CARGO_PROFILE_RELEASE_DEBUG=0 cargo build --quiet --locked --release --target-dir target/ci/constant-time \
    --package proofmill-bls --example constant_time
checked() { valgrind --quiet --error-exitcode=9 --suppressions=.ci/constant_time.supp "$program" "$1"; }
for level in portable adx; do
    echo "-- $level"
    checked "$level"
done
# A leak that must be reported.
echo "-- leak"
if checked leak; then
    echo "a branch on a secret was not reported"
    exit 1
elif [ $? -ne 9 ]; then
    exit 1
fi
