#!/usr/bin/env bash
# Tests the tools, and compares what they generate with what is committed. They are built together with the engine's tests, whose features they then share:
# alone, they would compile the kernels again.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t packages < <(.ci/packages.py engine tools)
packages=("${packages[@]/#/--package=}")
cargo test --locked --bins "${packages[@]}"
cargo build --quiet --locked --bins --examples "${packages[@]}"
# As `cargo xtask generate` and `figures`; the check `c` compares the header.
for tool in constgen protogen figures; do "target/debug/$tool" --check; done
