#!/usr/bin/env bash
# c.sh BUILD [PEERS]: checks the C library in BUILD, such as target/debug: the header is up to date, programs in C and Go that are written
# for rapidsnark run as they are, snarkjs accepts their proofs, calls do not write outside of their buffers or leak, and the library is
# type-checked for Android and iOS. PEERS is a folder with clones of iden3/rapidsnark and iden3/go-rapidsnark, whose own programs run
# too.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD build=$(realpath "$1") peers=${2:+$(realpath "$2")}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
example=$root/examples/membership-small
arguments=("$example/groth16.zkey" "$example/witness.wtns" "$example/groth16.vk.json" proof.json public.json)
warnings=(-std=c11 -O1 -g -Wall -Wextra -Wpedantic -Werror)

# accepted: snarkjs accepts the proof in the folder, and the public signals are those of the example.
accepted() {
    snarkjs groth16 verify "$example/groth16.vk.json" public.json proof.json > said
    grep -q 'OK!' said || { cat said; exit 1; }
    node -e 'require("assert").deepEqual(...process.argv.slice(1).map((path) => JSON.parse(fs.readFileSync(path))))' public.json "$example/public.json"
    rm proof.json public.json
}

echo "-- the header is what cbindgen makes, and a header for C++"
cargo xtask header --check "$build"
printf '#include "prover.h"\n#include "verifier.h"\n' > "$folder/both.cpp"
g++ -Wall -Wextra -Werror -fsyntax-only -Icrates/c/include "$folder/both.cpp"

echo "-- programs find the library by pkg-config: shared, static"
tools/install-c.sh "$folder" "$build"
# A program that was linked with rapidsnark finds this library under its name.
ln -s libproofmill.so "$folder/lib/librapidsnark.so"
export PKG_CONFIG_PATH=$folder/lib/pkgconfig LD_LIBRARY_PATH=$folder/lib
cflags=$(pkg-config --cflags proofmill)
# shellcheck disable=SC2046,SC2086
{
    gcc "${warnings[@]}" -fsanitize=address,undefined $cflags crates/c/tests/calls.c -pthread $(pkg-config --libs proofmill) -o "$folder/calls"
    gcc "${warnings[@]}" $cflags examples/c/prove.c $(pkg-config --libs proofmill) -o "$folder/shared"
    gcc "${warnings[@]}" $cflags examples/c/prove.c "$folder/lib/libproofmill.a" \
        $(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/proofmill.pc") -o "$folder/static"
    gcc "${warnings[@]}" $cflags examples/c/prove.c "-L$folder/lib" -lrapidsnark -o "$folder/renamed"
}
cd "$folder"
for program in shared static renamed; do
    "./$program" "${arguments[@]}"
    accepted
done

echo "-- all calls"
./calls "$root"

echo "-- a program in Go"
(cd "$root/examples/go" && CGO_CFLAGS=$cflags CGO_LDFLAGS=-L$folder/lib GOFLAGS=-buildvcs=false go build -o "$folder/go" .)
./go "${arguments[@]}"
accepted

if [ -n "$peers" ]; then
    echo "-- rapidsnark's own programs, with their headers and this library"
    sources=$peers/rapidsnark/src data=$peers/rapidsnark/testdata
    gcc "-I$sources" "$sources/test_public_size.c" -Llib -lrapidsnark -o test_public_size
    ./test_public_size "$data/circuit_final.zkey" 86
    for program in prover verifier; do
        g++ -std=c++17 "-I$sources" "$sources/main_$program.cpp" "$sources/fileloader.cpp" -Llib -lrapidsnark -o "$program"
    done
    ./prover "$data/circuit_final.zkey" "$data/witness.wtns" proof.json public.json
    ./verifier "$data/verification_key.json" public.json proof.json
    snarkjs groth16 verify "$data/verification_key.json" public.json proof.json | grep 'OK!'
    # The package links GMP, which nothing uses.
    ar rcs lib/libgmp.a
    mkdir -p peer/program
    cp -r "$peers"/go-rapidsnark/{prover,types} peer
    cat > peer/program/main.go << 'GO'
package main

import (
	"encoding/json"
	"os"

	"github.com/iden3/go-rapidsnark/prover"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	proof := must(prover.Groth16Prover(must(os.ReadFile(os.Args[1])), must(os.ReadFile(os.Args[2]))))
	os.WriteFile("proof.json", must(json.Marshal(proof.Proof)), 0o644)
	os.WriteFile("public.json", must(json.Marshal(proof.PubSignals)), 0o644)
}
GO
    printf 'module program\ngo 1.18\nrequire github.com/iden3/go-rapidsnark/prover v0.0.0\n' > peer/program/go.mod
    printf 'go 1.18\nuse (\n ./prover\n ./types\n ./program\n)\n' > peer/go.work
    CGO_CFLAGS=-DUSE_VENDORED_RAPIDSNARK CGO_LDFLAGS=-L$folder/lib go build -C peer/program -tags dynamic -o "$folder/go-rapidsnark" .
    ./go-rapidsnark "${arguments[@]:0:2}"
    accepted
fi

echo "-- Android and iOS"
cd "$root"
for target in aarch64-linux-android x86_64-linux-android aarch64-apple-ios; do
    cargo check --quiet --locked --package proofmill-c --target "$target"
done
