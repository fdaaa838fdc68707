#!/usr/bin/env bash
# levels.sh PROOFMILL-BENCH RECORD.csv: times the kernels that docs/benchmarks.md compares, every level of this CPU in alternation with
# the peers, on one core. The peers' tools must be installed (lab/peers/README.md). Takes about twenty minutes.
set -euo pipefail
bench=$(realpath "$1") record=$(realpath -m "$2")
cd "$(dirname "$0")/.."
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
measure() { "$bench" --threads 1 run "$@" --peers --power none --db "$store/runs.db"; }
levels=adx,avx2,avx512ifma goldilocks=avx2,avx512,avx512ifma
grep -q avx512ifma /proc/cpuinfo || levels=adx,avx2 goldilocks=avx2
measure ntt/bn254-fr --size 2^16,2^20 --level "portable,$levels"
measure msm/bn254-g1 --size 2^20 --level "$levels" --time 10s
measure msm/bn254-g2 --size 2^16 --level "$levels"
measure msm/bls12-381-g1 --size 2^16 --level "$levels"
measure pairing --level "$levels"
measure bls/ --level "$levels"
measure goldilocks_transforms/ntt-reversed --size 2^16,2^20 --level "$goldilocks"
measure permutations/poseidon2-8 permutations/poseidon2-12 merkle/poseidon2 merkle/keccak --level "$goldilocks"
"$bench" export --db "$store/runs.db" --record --out "$record"
