#!/usr/bin/env bash
# report.sh PROOFMILL: tests the report in headless Chromium, and compares the chart library with its npm
# package. NODE_PATH must contain chart.js and playwright-core.
set -euo pipefail
PROOFMILL=$(realpath "$1")
export PROOFMILL
cd "$(dirname "$0")/../lab/bench"

for file in dist/chart.umd.min.js LICENSE.md; do
    [ "$(sha256sum < "$NODE_PATH/chart.js/$file")" = "$(sha256sum < "src/report/chart.js/${file##*/}")" ] ||
        { echo "chart.js/${file##*/} is not the package's $file"; exit 1; }
done
timeout 180 node --test --test-reporter=spec tests/report/report.test.mjs
