#!/usr/bin/env bash
# tools/install-c.sh PREFIX [BUILD]: installs libproofmill.so, libproofmill.a, their headers (include/proofmill) and a file for pkg-config
# into PREFIX. BUILD is a folder in which cargo has built the package proofmill-c; by default it is built first, in target/release.
set -euo pipefail
prefix=$(realpath -m "${1:?the folder to install into, such as /usr/local}")
build=${2-}
[ -z "$build" ] || build=$(realpath "$build")
cd "$(dirname "$0")/.."
if [ -z "$build" ]; then
    cargo build --locked --release --package proofmill-c
    build=${CARGO_TARGET_DIR:-target}/release
fi
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
install -d "$prefix/lib/pkgconfig" "$prefix/include/proofmill"
install -m 644 "$build/libproofmill.so" "$build/libproofmill.a" "$prefix/lib"
install -m 644 crates/c/include/*.h "$prefix/include/proofmill"
sed "s|@prefix@|$prefix|; s|@version@|$version|" crates/c/proofmill.pc.in > "$prefix/lib/pkgconfig/proofmill.pc"
