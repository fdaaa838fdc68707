#!/usr/bin/env bash
# Builds everything for aarch64 and runs the tests of the arithmetic under qemu-user.
set -euo pipefail
cargo build --locked --workspace --target aarch64-unknown-linux-gnu
cargo test --locked --target aarch64-unknown-linux-gnu \
    --package proofmill-field --package proofmill-curve --package proofmill-poly
# What an opening with a changed byte is worth does not depend on the CPU, and takes minutes here.
cargo test --locked --target aarch64-unknown-linux-gnu --package proofmill-merkle -- --skip changed
