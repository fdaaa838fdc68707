#!/usr/bin/env bash
# install.sh FOLDER: installs the tools that the checks need in addition to rustup and npm. Tools from cargo,
# npm and pip go into the folder.
set -euo pipefail
mkdir -p "$1"
root=$(realpath "$1")

# install_packages NAME...: installs Debian's packages.
install_packages() {
    local sudo
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

{ command -v qemu-aarch64 && command -v aarch64-linux-gnu-gcc-12 && command -v valgrind; } > /dev/null \
    || install_packages qemu-user gcc-12-aarch64-linux-gnu libc6-dev-arm64-cross valgrind libc6-dbg
{ command -v g++ && command -v pkg-config && command -v go; } > /dev/null || install_packages g++ pkg-config golang-go
command -v chromium > /dev/null || install_packages chromium fonts-dejavu-core
rustup target add aarch64-unknown-linux-gnu aarch64-unknown-linux-musl x86_64-unknown-linux-musl \
    aarch64-linux-android x86_64-linux-android aarch64-apple-ios aarch64-apple-darwin x86_64-pc-windows-msvc

# Debug builds: they take a third of the time, and the tools run only for seconds.
export CARGO_TARGET_DIR=$root/build
[ -x "$root/bin/cargo-deny" ] || cargo install --quiet --locked --debug --root "$root" cargo-deny@0.18.5
# Without server, file watcher and search, which take a minute to compile.
[ -x "$root/bin/mdbook" ] || cargo install --quiet --locked --debug --no-default-features --root "$root" mdbook@0.5.4
[ -x "$root/bin/cbindgen" ] || cargo install --quiet --locked --debug --root "$root" cbindgen@0.29.4
[ -x "$root/bin/cargo-fuzz" ] || cargo install --quiet --locked --debug --root "$root" cargo-fuzz@0.13.1
# Judges of the service that are not ours, and the C compiler of release archives. The copy says which versions are installed.
packages=$(dirname "$0")/service/requirements.txt
if ! cmp -s "$packages" "$root/python/requirements.txt"; then
    if ! python3 -c 'import ensurepip, venv' 2> /dev/null; then
        sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
        $sudo apt-get update -qq
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv
    fi
    python3 -m venv --clear "$root/python"
    "$root/python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$packages"
    printf '#!/bin/sh\nexec %s -m ziglang "$@"\n' "$root/python/bin/python" > "$root/bin/zig"
    chmod +x "$root/bin/zig"
    cp "$packages" "$root/python"
fi
# The copy in node_modules says which versions are installed.
npm=$(dirname "$0")/npm
if ! cmp -s "$npm/package-lock.json" "$root/node_modules/package-lock.json"; then
    cp "$npm"/*.json "$root"
    npm ci --prefix "$root" --no-audit --no-fund --loglevel error
    cp "$npm/package-lock.json" "$root/node_modules"
fi
