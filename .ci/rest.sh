#!/usr/bin/env bash
# Tests everything but the engine, with a PostgreSQL and an S3 server. The tools are tested once more: without them, features would be others.
set -euo pipefail
cd "$(dirname "$0")/.."
trap '.ci/servers.sh stop target/ci/servers' EXIT
servers=$(.ci/servers.sh target/ci/servers target/ci)
set -a
eval "$servers"
set +a
mapfile -t engine < <(.ci/packages.py engine)
# Many of the tests of the service wait.
export RUST_TEST_THREADS=4
cargo test --workspace "${engine[@]/#/--exclude=}" --locked --no-fail-fast
