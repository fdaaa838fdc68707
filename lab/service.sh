#!/usr/bin/env bash
# service.sh FOLDER RECORD.csv [PROVERSERVER]: measures the service against a loop in one process, with SQLite and PostgreSQL, and against
# rapidsnark's proverServer. FOLDER is one in which .ci/install.sh has installed. Takes about ten minutes, on an otherwise idle machine.
#
# PROVERSERVER is the program built from iden3/rapidsnark with its build/*.cpp, build/*.asm and ffiasm by `g++ -std=c++17 -O3 -fopenmp -pthread
# -DUSE_LOGGER -DUSE_ASM -DARCH_X86_64 -DUSE_OPENMP`, and Debian's libpistache-dev, nlohmann-json3-dev, libgmp-dev, libsodium-dev and nasm.
set -euo pipefail
tools=$(realpath "$1") record=$(realpath -m "$2") server=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_INCREMENTAL=0
cargo build --release --locked -p proofmill-cli -p proofmill-server
cargo build --release --locked -p proofmill-cli -p proofmill-server -p proofmill --example prove_loop
export PATH=$root/target/release:$tools/node_modules/.bin:$PATH
folder=$(mktemp -d)
trap '"$root/.ci/servers.sh" stop "$tools/figures"; rm -rf "$folder"' EXIT
cd "$folder"
cp "$root/lab/squares-2e14.circom" squares.circom
echo '{ "first": "3" }' > squares.json
circom2 squares.circom --r1cs --wasm --c
proofmill srs new --prepared --size 2^15 powers.ptau
# The key is for this test only.
export PROOFMILL_ALLOW_INSECURE_SETUP=true PROOFMILL_LOG=warn
proofmill groth16 setup squares.r1cs powers.ptau squares.zkey
proofmill wtns calculate squares_js/squares.wasm squares.json squares.wtns

rm -f "$record"
measure() { "$root/service/figures.py" --key squares.zkey --witness squares.wtns --record "$record" "$@"; }
measure
"$root/.ci/servers.sh" "$tools/figures" "$tools" > servers.env
. ./servers.env
psql "$PROOFMILL_TEST_POSTGRES" -qc "CREATE DATABASE figures"
measure --store "${PROOFMILL_TEST_POSTGRES%/*}/figures?sslmode=disable" --figures overhead,rates
if [ -n "$server" ]; then
    # Its witnesses come from the program that circom makes.
    make -C squares_cpp CFLAGS='-std=c++17 -O3 -I.' > make.log 2>&1 || { cat make.log; exit 1; }
    mkdir build
    cp squares_cpp/squares squares_cpp/squares.dat build
    measure --figures peer --program squares_js/squares.wasm --signals squares.json --peer "$server {port} squares.zkey"
fi
