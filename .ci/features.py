#!/usr/bin/env python3
"""features.py: whether `cargo test`, `.ci/tools.sh` and `cargo test --workspace` build the packages of the first with the same features.

If they do not, everything that depends on the package that differs is compiled twice. The features that a package lacks go into
crates/testing/Cargo.toml.
"""
import re, subprocess, sys


def packages(*arguments):
    """The sets of features with which each version of a package is built."""
    command = ["cargo", "tree", "--locked", "--edges", "normal,build,dev", "--format", "{p} [{f}]", "--prefix", "none", *arguments]
    tree = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    packages = {}
    for name, version, features in re.findall(r"^(\S+) (v\S+).*? \[(.*)\]", tree, re.MULTILINE):
        packages.setdefault((name, version), set()).add(features)
    return packages


names = subprocess.run([".ci/packages.py", "engine", "tools"], check=True, capture_output=True, text=True).stdout.split()
engine, different = packages(), 0
for title, arguments in ("--workspace", ["--workspace"]), (".ci/tools.sh", [f"--package={name}" for name in names]):
    other = packages(*arguments)
    for (name, version), features in sorted(engine.items()):
        if not features <= other[name, version]:
            different += 1
            print(f"{name} {version}: `cargo test` builds it with {sorted(features)}, `{title}` with {sorted(other[name, version])}")
sys.exit(different > 0)
