"""The examples and known answers of the repository, as fixtures."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SMALL = ROOT / "examples/membership-small"
LARGE = ROOT / "examples/membership"
ANSWERS = ROOT / "crates/hash/tests/data"


def answers(name):
    """Known answers of other programs; the repository's README of the hashes says which."""
    return json.loads((ANSWERS / f"{name}.json").read_text())


@pytest.fixture
def small(monkeypatch):
    """The small example is the working directory."""
    monkeypatch.chdir(SMALL)
    return SMALL
