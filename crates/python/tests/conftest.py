"""The examples and known answers of the repository, as fixtures."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import proofmill as pm

# The modulus of Goldilocks.
P = 2**64 - 2**32 + 1
ROOT = Path(__file__).resolve().parents[3]
SMALL = ROOT / "examples/membership-small"
LARGE = ROOT / "examples/membership"
ANSWERS = ROOT / "crates/hash/tests/data"


def answers(name):
    """Known answers of other programs; the repository's README of the hashes says which."""
    return json.loads((ANSWERS / f"{name}.json").read_text())


def built(program):
    """A program of the repository, which the variable of its name names (PROOFMILL_SERVER_PROGRAM) or which is built in target."""
    named = os.environ.get(f"{program.upper().replace('-', '_')}_PROGRAM")
    places = [named, *(ROOT / f"target/{profile}/{program}" for profile in ("debug", "release"))]
    return next((Path(place) for place in places if place and Path(place).exists()), None)


def may_skip(*programs):
    """Whether tests that need these programs are skipped: not where PROOFMILL_REQUIRE_PROGRAMS is set."""
    return None in programs and not os.environ.get("PROOFMILL_REQUIRE_PROGRAMS")


def certificate(folder, name):
    """Files of a certificate for this host, which signed itself, and of its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    found = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-out", found[0], "-keyout", found[1]]
    subprocess.run(command, check=True, capture_output=True)
    return found


@pytest.fixture
def usual_recursion():
    """Python's usual limit, which py_ecc raises so far that deep JSON overflows the stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture
def small(monkeypatch):
    """The small example is the working directory."""
    monkeypatch.chdir(SMALL)
    return SMALL


# (a, b) is followed by (b, a + b); the public values are the first pair and the last b.
@pytest.fixture(scope="module")
def air():
    return pm.stark.Air(ROOT / "crates/stark/tests/data/fibonacci.json")


@pytest.fixture(scope="module")
def trace():
    rows = [[0, 1]]
    while len(rows) < 512:
        a, b = rows[-1]
        rows.append([b, (a + b) % P])
    return np.array(rows, dtype=np.uint64)
