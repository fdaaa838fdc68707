#!/usr/bin/env python3
"""features.py: whether `cargo test` and `cargo test --workspace` build the same packages, with the same features.

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


engine, workspace = packages(), packages("--workspace")
different = [package for package, features in engine.items() if not features <= workspace[package]]
for name, version in sorted(different):
    print(f"{name} {version}: `cargo test` builds it with {sorted(engine[name, version])}, `--workspace` with {sorted(workspace[name, version])}")
sys.exit(len(different) > 0)
