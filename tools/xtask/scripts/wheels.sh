#!/usr/bin/env bash
# cargo xtask wheels [--free-threaded] [TARGET...]: makes wheels of crates/python in target/wheels: one for CPython 3.10 and later, or, with
# --free-threaded, one for CPython 3.14t. They have licences and need no newer C library than glibc 2.17.
# Targets are x86_64-unknown-linux-gnu and aarch64-unknown-linux-gnu; default: both. They contain the command `proofmill`, too.
# Needs Rust with these targets, those of musl, and Python; installs maturin and zig, which links for an old C library, in
# target/wheels/tools. On macOS and Windows, `maturin build` makes a wheel.
set -euo pipefail
cd "$(dirname "$0")/../../.."

usage='usage: cargo xtask wheels [--free-threaded] [x86_64-unknown-linux-gnu] [aarch64-unknown-linux-gnu]'
options=(--interpreter python3.10) targets=()
for argument; do
    case $argument in
    --free-threaded) options=(--features extension --interpreter python3.14t) ;;
    x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) targets+=("$argument") ;;
    -h | --help) echo "$usage" && exit ;;
    *) echo "unknown argument $argument; $usage" >&2 && exit 2 ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)

out=${CARGO_TARGET_DIR:-$PWD/target}/wheels
export CARGO_TARGET_DIR=$out/build PATH=$out/tools/bin:$PATH
[ -x "$out/tools/bin/maturin" ] || python3 -m venv "$out/tools"
"$out/tools/bin/pip" install --quiet --disable-pip-version-check 'maturin[zig]>=1.13,<2'

third_party=crates/python/LICENSES-THIRD-PARTY rust=crates/python/LICENSES-RUST.html
# maturin puts what is in this folder into the environment's folder of commands.
commands=crates/python/proofmill._proofmill.data/scripts
trap 'rm -rf "$third_party" "$rust" "$(dirname "$commands")"' EXIT
mkdir -p "$commands"
cp "$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html" "$rust"
for target in "${targets[@]}"; do
    tools/xtask/scripts/licences.sh Cargo.toml "$target" musl proofmill-python proofmill-cli > "$third_party"
    # The command is static: it runs with every C library.
    static=${target/gnu/musl}
    variable=CARGO_TARGET_$(tr a-z- A-Z_ <<< "$static")_LINKER
    env "$variable=rust-lld" cargo build --quiet --locked --profile dist --package proofmill-cli --target "$static"
    cp "$CARGO_TARGET_DIR/$static/dist/proofmill" "$commands"
    maturin build --quiet --release --locked --zig --compatibility manylinux2014 --target "$target" "${options[@]}" \
        --manifest-path crates/python/Cargo.toml --out "$out"
done
ls "$out"/*.whl
