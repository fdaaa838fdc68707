#!/usr/bin/env bash
# cargo xtask release [--dry-run] [TARGET...]: makes release archives of `proofmill` in target/archives, each
# with the static binaries (also of the service, with its systemd unit), man pages, completions and licences, and a
# file with the SHA-256 of each archive.
# Targets are x86_64-unknown-linux-musl and aarch64-unknown-linux-musl; default: both. --dry-run checks the
# tools and lists the archives.
set -euo pipefail
cd "$(dirname "$0")/../../.."

usage='usage: cargo xtask release [--dry-run] [x86_64-unknown-linux-musl] [aarch64-unknown-linux-musl]'
all=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
dry_run=false targets=()
for argument in "$@"; do
    case $argument in
    --dry-run) dry_run=true ;;
    x86_64-unknown-linux-musl | aarch64-unknown-linux-musl) targets+=("$argument") ;;
    -h | --help) echo "$usage" && exit ;;
    *) echo "unknown argument $argument; $usage" >&2 && exit 2 ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")

# The binary for this machine prints man pages and completions.
host=$(uname -m)-unknown-linux-musl
case " ${all[*]} " in
*" $host "*) ;;
*) echo "archives are made on Linux on x86_64 or aarch64, this is $(uname -sm)" >&2 && exit 2 ;;
esac

missing=()
needs() {
    command -v "$1" > /dev/null || missing+=("$1: $2")
}
needs cargo 'https://rustup.rs'
needs rustup 'https://rustup.rs'
needs cc 'apt install gcc (links the build scripts of dependencies)'
# Compiles C for both targets: SQLite and ring, of the service.
zig=zig
command -v zig > /dev/null || zig='python3 -m ziglang'
$zig version > /dev/null 2>&1 || missing+=('zig: pip install ziglang')
[ -n "${SOURCE_DATE_EPOCH:-}" ] || needs git 'apt install git'
needs tar 'apt install tar'
needs gzip 'apt install gzip'
needs sha256sum 'apt install coreutils'
if command -v rustup > /dev/null; then
    installed=$(rustup target list --installed)
    for target in "$host" "${targets[@]}"; do
        grep -qx "$target" <<< "$installed" || missing+=("Rust's $target: rustup target add $target")
    done
fi
if [ ${#missing[@]} -gt 0 ]; then
    echo 'missing tools:' >&2
    printf '  %s\n' "${missing[@]}" | sort -u >&2
    exit 2
fi

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
home=${CARGO_HOME:-$HOME/.cargo}
build=${CARGO_TARGET_DIR:-$PWD/target}
out=$build/archives
# Reproducible archives: dates are those of the commit, and the binary contains no path of this machine.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Rust includes musl and a linker for both targets.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
unset RUSTFLAGS
export CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=$PWD=.$'\x1f'--remap-path-prefix=$home=cargo

# compile TARGET: builds proofmill and proofmill-server in $build/TARGET/dist.
compile() {
    local variable=${1//-/_} compiler=$build/$1/zig-cc
    mkdir -p "$build/$1"
    # Cargo's name of the target is none of zig's.
    cat > "$compiler" << EOF
#!/usr/bin/env bash
for argument; do
    shift
    case \$argument in --target=*) ;; *) set -- "\$@" "\$argument" ;; esac
done
exec $zig cc -target ${1%%-*}-linux-musl -fno-sanitize=undefined "\$@"
EOF
    printf '#!/bin/sh\nexec %s ar "$@"\n' "$zig" > "$build/$1/zig-ar"
    chmod +x "$compiler" "$build/$1/zig-ar"
    env "CC_$variable=$compiler" "AR_$variable=$build/$1/zig-ar" "CFLAGS_$variable=-ffile-prefix-map=$home=cargo -ffile-prefix-map=$PWD=." \
        cargo build --locked --quiet --profile dist --package proofmill-cli --package proofmill-server --target "$1"
}

# archive TARGET: makes the archive and prints its path.
archive() {
    local name=proofmill-$version-$1 folder
    folder=$out/$name
    rm -rf "$folder"
    mkdir -p "$folder/man" "$folder/completions"
    compile "$1"
    cp "$build/$1/dist"/proofmill{,-server} service/deploy/proofmill.service README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder"
    "$host_binary" man --quiet "$folder/man"
    "$host_binary" completions bash > "$folder/completions/proofmill.bash"
    "$host_binary" completions zsh > "$folder/completions/_proofmill"
    "$host_binary" completions fish > "$folder/completions/proofmill.fish"
    tools/xtask/scripts/licences.sh Cargo.toml "$1" musl proofmill-cli proofmill-server > "$folder/LICENSES-THIRD-PARTY"
    cp "$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html" "$folder/LICENSES-RUST.html"
    tar --directory "$out" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        --create "$name" | gzip -n -9 > "$folder.tar.gz"
    (cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
    echo "$folder.tar.gz"
}

if $dry_run; then
    for target in "${targets[@]}"; do echo "would make $out/proofmill-$version-$target.tar.gz"; done
    exit
fi
compile "$host"
host_binary=$build/$host/dist/proofmill
for target in "${targets[@]}"; do archive "$target"; done
