#!/usr/bin/env bash
# licences.sh MANIFEST TARGET LIBC PACKAGE...: prints the licences of everything that is linked into these packages of a workspace for a
# target, whose C library (none, or musl) is linked, too.
set -euo pipefail
manifest=$1 target=$2 libc=$3
shift 3
home=${CARGO_HOME:-$HOME/.cargo}
root=$(dirname "$0")/../../..

packages=()
for package; do packages+=(--package "$package"); done
case $libc in
none) linked="Rust's standard library" ;;
*) linked="$libc, and Rust's standard library" ;;
esac
echo "This program contains these packages, $linked. Their licences follow."
cargo tree --locked --manifest-path "$manifest" "${packages[@]}" --target "$target" --edges normal,no-proc-macro --prefix none --format '{p}|{l}' |
    sed 's/ (\*)//; /^$/d' | sort -u | while IFS='|' read -r name licence; do
    case $name in
    *' ('*) continue ;; # this project's crates
    esac
    printf '\n==== %s, %s\n' "$name" "$licence"
    source=$(find "$home"/registry/src -mindepth 2 -maxdepth 2 -name "${name/ v/-}" -print -quit)
    [ -n "$source" ] || { echo "cannot find the source of $name" >&2 && exit 1; }
    find "$source" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'unlicense*' \) | sort |
        while read -r file; do printf '\n' && cat "$file"; done
done
if [ "$libc" = musl ]; then
    printf '\n==== musl, MIT\n\nCopyright © 2005-2020 Rich Felker, et al.\n\n'
    sed '1,/^Copyright/d' "$root/LICENSE-MIT"
fi
printf "\n==== Rust's standard library, MIT OR Apache-2.0: see LICENSES-RUST.html\n"
