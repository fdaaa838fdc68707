#!/usr/bin/env bash
# service.sh PROOFMILL TOOLS: tests the service's page in headless Chromium, its interfaces by programs that are not ours, and kills and
# stops servers and workers while jobs run; their proofs are verified by snarkjs. TOOLS is the folder of install.sh, NODE_PATH must contain
# playwright-core; proofmill-server lies next to PROOFMILL.
set -euo pipefail
PROOFMILL=$(realpath "$1")
python=$(realpath "$2")/python/bin/python
export PROOFMILL PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/.."
timeout 180 node --test --test-reporter=spec service/server/tests/page/page.test.mjs
for check in aggregator traces openapi load; do
    timeout 180 "$python" ".ci/service/$check.py" "$PROOFMILL"
done
timeout 600 service/campaign.py --bin "$(dirname "$PROOFMILL")" --jobs 60 --kills 6 --stops 1 --drains 1 --poison 2 --snarkjs
