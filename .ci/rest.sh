#!/usr/bin/env bash
# Tests of everything but the engine, with a PostgreSQL and an S3 server.
set -euo pipefail
cd "$(dirname "$0")/.."
trap '.ci/servers.sh stop target/ci/servers' EXIT
servers=$(.ci/servers.sh target/ci/servers target/ci)
set -a
eval "$servers"
set +a
# All members but those whose tests `cargo test` runs.
engine=$(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
metadata = json.load(sys.stdin)
names = {package["id"]: package["name"] for package in metadata["packages"]}
print(*(f"--exclude={names[member]}" for member in metadata["workspace_default_members"]))')
# Many of the tests of the service wait.
export RUST_TEST_THREADS=4
# shellcheck disable=SC2086
cargo test --workspace $engine --locked --no-fail-fast
