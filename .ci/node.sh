#!/usr/bin/env bash
# node.sh BUILD: runs the tests of the package in crates/node with the extension in BUILD, such as target/debug, and checks its types and
# what it contains. snarkjs and TypeScript go into the package's folder.
set -euo pipefail
library=$(realpath "$1")/libproofmill_node.so
cd "$(dirname "$0")/../crates/node"
# The copy says which versions are installed.
if ! cmp -s package-lock.json node_modules/package-lock.json; then
    npm ci --no-audit --no-fund --loglevel error
    cp package-lock.json node_modules
fi
node build.mjs "$library"
npm run --silent types
npm test --silent

echo "-- the package alone, as it is published, works in an empty project"
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
npm pack --silent --pack-destination "$project"
mkdir -p "$project/node_modules/proofmill"
tar -xzf "$project"/proofmill-*.tgz --strip-components 1 --directory "$project/node_modules/proofmill"
small=$(realpath ../../examples/membership-small)
cd "$project"
node --input-type=module --eval '
    import { groth16 } from "proofmill";
    const { publicSignals } = await groth16.prove(...process.argv.slice(-2));
    if (publicSignals.length !== 3) throw new Error("no proof");' "$small/groth16.zkey" "$small/witness.wtns"
