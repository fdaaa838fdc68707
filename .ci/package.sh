#!/usr/bin/env bash
# package.sh: packs the crates that are published, and compiles them from their packages, without the rest of
# the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
packages=$(cargo metadata --no-deps --format-version 1 --locked |
    node -p 'JSON.parse(fs.readFileSync(0)).packages.filter((each) => each.publish === null).map((each) => each.name).join(" ")')
rm -f "${CARGO_TARGET_DIR:-target}"/package/*.crate
read -ra names <<< "$packages"
cargo package --quiet --locked --no-verify --allow-dirty "${names[@]/#/--package=}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '[workspace]\nresolver = "3"\nmembers = ["*-0*"]\n[patch.crates-io]\n' > Cargo.toml
for package in $packages; do
    archive=$(ls "${CARGO_TARGET_DIR:-$root/target}/package/$package"-[0-9]*.crate)
    # With new modification times; otherwise cargo would reuse the results of earlier packages.
    tar -xzmf "$archive"
    folder_name=$(basename "$archive" .crate)
    for file in Cargo.toml README.md src; do
        [ -e "$folder_name/$file" ] || { echo "$package: its package lacks $file"; exit 1; }
    done
    for field in description license categories keywords readme; do
        grep -q "^$field = " "$folder_name/Cargo.toml" || { echo "$package: its package has no $field"; exit 1; }
    done
    echo "$package = { path = \"$folder_name\" }" >> Cargo.toml
done
cp "$root/Cargo.lock" .
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} cargo check --quiet --offline --package proofmill --all-features
echo "$(wc -w <<< "$packages") packages"
