#!/usr/bin/env python3
"""cargo xtask gallery [--check]: draws docs/figures from lab/records, by the package `proofmill` with the extra `plot`. With --check, nothing is
written, and figures that differ are named. The same version of matplotlib draws the same bytes."""

import argparse
import io
import sys
from pathlib import Path

import matplotlib

import proofmill as pm

ROOT = Path(__file__).resolve().parents[3]
RECORDS, FIGURES = ROOT / "lab/records", ROOT / "docs/figures"
# Text as text, which is small and can be searched; identifiers and headings without random parts and dates.
SETTINGS = {"svg.hashsalt": "proofmill", "svg.fonttype": "none"}
METADATA = {"Date": None, "Creator": None}
LEVELS = ["portable", "adx", "avx2", "avx512", "avx512ifma"]


def scaling():
    rows = pm.bench.load(RECORDS / "levels_zen4.csv").select(family="merkle", benchmark="poseidon2", implementation=LEVELS)
    return rows.plot.scaling()


def levels():
    record = pm.bench.load(RECORDS / "levels_zen4.csv")
    chosen = {"ntt": ("bn254-fr", 2**20), "msm": ("bls12-381-g1", 2**16), "pairing": ("bls12-381", 128), "merkle": ("poseidon2", 2**20)}
    rows = [row for row in record if chosen.get(row["family"]) == (row["benchmark"], row["size"]) and row["implementation"] != "snarkjs"]
    return pm.bench.Results(rows, record.runs).plot.levels()


def phases():
    return pm.bench.load(RECORDS / "groth16_phases_zen4.json").plot.phases()


def drawn(plot):
    """The bytes of a plot."""
    content = io.BytesIO()
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS}):
        plot().figure.savefig(content, format="svg", metadata=METADATA)
    # Lines end without spaces.
    return b"".join(line.rstrip() + b"\n" for line in content.getvalue().splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wrong = []
    for plot in (scaling, levels, phases):
        path, content = FIGURES / f"{plot.__name__}.svg", drawn(plot)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        elif not path.exists() or path.read_bytes() != content:
            wrong.append(str(path.relative_to(ROOT)))
    if wrong:
        sys.exit(f"{', '.join(wrong)}: not what cargo xtask gallery draws with matplotlib {matplotlib.__version__}")


if __name__ == "__main__":
    main()
