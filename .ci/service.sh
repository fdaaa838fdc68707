#!/usr/bin/env bash
# service.sh PROOFMILL: tests the service's page in headless Chromium, and kills and stops servers and workers while jobs run; their proofs are
# verified by snarkjs. NODE_PATH must contain playwright-core; proofmill-server lies next to PROOFMILL.
set -euo pipefail
PROOFMILL=$(realpath "$1")
export PROOFMILL
cd "$(dirname "$0")/.."
timeout 180 node --test --test-reporter=spec crates/server/tests/page/page.test.mjs
timeout 600 scripts/service_campaign.py --bin "$(dirname "$PROOFMILL")" --jobs 60 --kills 6 --stops 1 --drains 1 --poison 2 --snarkjs
