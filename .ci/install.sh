#!/usr/bin/env bash
# install.sh FOLDER NEED...: builds and installs what checks need in addition to rustup and npm: tools/xtask/src/ci/checks.rs says which needs what. Tools
# from cargo, npm and pip go into the folder.
set -euo pipefail
mkdir -p "$1"
root=$(realpath "$1")
shift

# packages NAME...: installs Debian's packages.
packages() {
    local sudo
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# has PROGRAM...: whether all of them are in PATH.
has() { command -v "$@" > /dev/null && [ "$(command -v "$@" | wc -l)" -eq $# ]; }

# tool PACKAGE VERSION [OPTION...]: installs a program from cargo's registry. Debug builds take a third of the time, and the tools run only for
# seconds.
tool() {
    [ -x "$root/bin/$1" ] || CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$root/build cargo install --quiet --locked --debug --root "$root" "${@:3}" "$1@$2"
}

# copied FILE FOLDER: whether FOLDER has been made for this version of a list of packages, of which it then has a copy.
copied() { cmp -s "$1" "$2/$(basename "$1")"; }

for need; do
    case $need in
    # With examples, because then features are those of the tests.
    programs) cargo build --workspace --lib --bins --examples --features proofmill-python/abi3 --locked --quiet ;;
    evm) cargo build --quiet --locked --manifest-path tools/evm/Cargo.toml --target-dir target/evm ;;
    licences) tool cargo-deny 0.18.5 ;;
    # Without server, file watcher and search, which take a minute to compile.
    book) tool mdbook 0.5.4 --no-default-features ;;
    header) tool cbindgen 0.29.4 ;;
    c) has g++ pkg-config go || packages g++ pkg-config golang-go ;;
    # Platforms for which types are checked only.
    platforms) rustup target add aarch64-linux-android x86_64-linux-android aarch64-apple-ios aarch64-apple-darwin x86_64-pc-windows-msvc ;;
    valgrind) has valgrind || packages valgrind libc6-dbg ;;
    arm)
        has qemu-aarch64 aarch64-linux-gnu-gcc-12 || packages qemu-user gcc-12-aarch64-linux-gnu libc6-dev-arm64-cross
        rustup target add aarch64-unknown-linux-gnu
        ;;
    archives) rustup target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl ;;
    chromium) has chromium || packages chromium fonts-dejavu-core ;;
    nightly) rustup toolchain list | grep -q ^nightly || rustup toolchain install nightly --profile minimal ;;
    # Judges of the service that are not ours, and the C compiler of release archives.
    python)
        list=$(dirname "$0")/service/requirements.txt
        if ! copied "$list" "$root/python"; then
            python3 -c 'import ensurepip, venv' 2> /dev/null || packages python3-venv
            python3 -m venv --clear "$root/python"
            "$root/python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$list"
            mkdir -p "$root/bin"
            printf '#!/bin/sh\nexec %s -m ziglang "$@"\n' "$root/python/bin/python" > "$root/bin/zig"
            chmod +x "$root/bin/zig"
            cp "$list" "$root/python"
        fi
        ;;
    npm)
        list=$(dirname "$0")/npm
        if ! copied "$list/package-lock.json" "$root/node_modules"; then
            cp "$list"/*.json "$root"
            npm ci --prefix "$root" --no-audit --no-fund --loglevel error
            cp "$list/package-lock.json" "$root/node_modules"
        fi
        ;;
    *) echo "install.sh: unknown need $need" >&2 && exit 2 ;;
    esac
done
