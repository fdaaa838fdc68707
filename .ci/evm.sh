#!/usr/bin/env bash
# Builds target/evm/debug/evm, which executes contracts.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --locked --manifest-path tools/evm/Cargo.toml --target-dir target/evm
