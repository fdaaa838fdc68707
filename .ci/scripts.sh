#!/usr/bin/env bash
# Checks the syntax of scripts, and that the release script finds its tools and names its archives. Building
# the archives would take too long.
set -euo pipefail
for script in .ci/*.sh .ci/run lab/*.sh lab/record lab/platform/*.sh tools/*.sh tools/xtask/scripts/*.sh examples/prove; do bash -n "$script"; done

made=$(tools/xtask/scripts/release.sh --dry-run)
grep -q 'proofmill-.*-x86_64-unknown-linux-musl.tar.gz$' <<< "$made"
grep -q 'proofmill-.*-aarch64-unknown-linux-musl.tar.gz$' <<< "$made"

# A missing tool is reported with its package.
only_cargo=$(mktemp -d)
trap 'rm -rf "$only_cargo"' EXIT
for tool in bash dirname uname sed sort grep cargo; do ln -s "$(command -v "$tool")" "$only_cargo"; done
status=0
missing=$(PATH=$only_cargo bash tools/xtask/scripts/release.sh --dry-run 2>&1) || status=$?
[ "$status" -eq 2 ] && grep -q 'tar: apt install tar' <<< "$missing"
