#!/usr/bin/env bash
# Builds the C library for 64-bit Arm, links a program with it, shared and static, and runs both under qemu-user, without SVE and with it:
# snarkjs accepts the proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
root=$PWD build=$PWD/target/$target/debug example=$PWD/examples/membership-small
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cargo build --quiet --locked --package proofmill-c --target "$target"
cd "$folder"
compile=(aarch64-linux-gnu-gcc-12 -std=c11 -O1 "-I$root/crates/c/include" "$root/examples/c/prove.c")
"${compile[@]}" "-L$build" -lproofmill -o shared
"${compile[@]}" "$build/libproofmill.a" -lpthread -ldl -lm -o static
for cpu in max,sve=off max,sve256=on; do
    for program in shared static; do
        echo "-- $program on $cpu"
        qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$build" -cpu "$cpu" "./$program" \
            "$example/groth16.zkey" "$example/witness.wtns" "$example/groth16.vk.json" proof.json public.json
        snarkjs groth16 verify "$example/groth16.vk.json" public.json proof.json > said
        grep -q 'OK!' said || { cat said; exit 1; }
        rm proof.json public.json
    done
done
