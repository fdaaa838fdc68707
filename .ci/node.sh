#!/usr/bin/env bash
# node.sh BUILD: runs the tests of the package in crates/node with the extension and the program in BUILD, such as target/debug, and checks its types and
# what it contains. snarkjs and TypeScript go into the package's folder.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../crates/node"
# The copy says which versions are installed.
if ! cmp -s package-lock.json node_modules/package-lock.json; then
    npm ci --no-audit --no-fund --loglevel error
    cp package-lock.json node_modules
fi
node build.mjs "$build"
npm run --silent types
npm test --silent

echo "-- the package alone, as it is published, works in an empty project"
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
npm pack --silent --pack-destination "$project"
small=$(realpath ../../examples/membership-small)
cd "$project"
npm install --silent --offline --no-audit --no-fund ./proofmill-*.tgz
node --input-type=module --eval '
    import { groth16 } from "proofmill";
    const { publicSignals } = await groth16.prove(...process.argv.slice(-2));
    if (publicSignals.length !== 3) throw new Error("no proof");' "$small/groth16.zkey" "$small/witness.wtns"
proofmill=node_modules/.bin/proofmill
"$proofmill" groth16 prove --allow-insecure-setup "$small/groth16.zkey" "$small/witness.wtns" proof.json public.json
"$proofmill" groth16 verify "$small/groth16.vk.json" public.json proof.json
status=0
"$proofmill" groth16 verify "$small/groth16.vk.json" "$small/absent.json" proof.json 2> /dev/null || status=$?
[ "$status" -eq 2 ] || { echo "expected status 2 of a file that is not there, found $status"; exit 1; }
