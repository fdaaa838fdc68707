#!/usr/bin/env bash
# goldilocks.sh PROOFMILL-BENCH FOLDER: times the kernels over Goldilocks and writes permutations.csv, merkle.csv and
# goldilocks_transforms.csv into FOLDER: every level of this CPU, then Plonky3, plonky2 and boojum, compiled for this CPU and, where it has
# AVX-512, for AVX2.
set -euo pipefail
bench=$(realpath "$1") folder=$(realpath "$2")
cd "$(dirname "$0")"
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT

# build NAME FLAG...: the peers' program.
build() {
    # cargo reads its other settings only there.
    (cd peers/programs/goldilocks && RUSTFLAGS="-C target-cpu=native ${*:2}" cargo build --release --quiet --target-dir "target/$1")
    programs+=("peers/programs/goldilocks/target/$1/release/goldilocks-peers")
}
programs=()
build native
if grep -q avx512f /proc/cpuinfo; then
    build avx2 -C target-feature=-avx512f
fi

last=$(($(nproc) - 1))
ours() { "$bench" run "$@" --level all --power none --db "$store/runs.db"; }
# peers CPUS ROW...: of scalar code, which both programs have, the first one's times.
peers() {
    for program in "${programs[@]}"; do
        taskset -c "$1" "$program" --csv "${@:2}" | tail -n +2
    done | awk -F, '!seen[$1, $2, $3]++' >> "$store/peers.csv"
}
ours permutations/ --size 2^16 --threads 1
peers "$last" 65536
ours merkle/poseidon --size 2^20,2^22
peers "0-$last" "merkle 2^20"
ours goldilocks_transforms/ --threads 1
peers "$last" "ntt goldilocks 2^16" "ntt goldilocks 2^20" "ntt goldilocks 2^23" "lde goldilocks 2^20"
"$bench" export --db "$store/runs.db" --out "$store/runs.json"
node goldilocks.mjs "$store/runs.json" "$store/peers.csv" "$folder"
