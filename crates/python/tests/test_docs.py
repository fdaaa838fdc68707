"""The examples of the documentation run."""

import re
import shutil

import pytest
from conftest import ROOT, SMALL

FILES = {
    "circuit.zkey": "groth16.zkey",
    "verification_key.json": "groth16.vk.json",
    **{name: name for name in ["circuit.r1cs", "circuit.sym", "circuit.wasm", "input.json", "pot8.ptau", "witness.wtns"]},
}


@pytest.mark.parametrize("page", ["docs/python.md", "crates/python/README.md"])
def test_examples(page, tmp_path, monkeypatch):
    for name, source in FILES.items():
        shutil.copy(SMALL / source, tmp_path / name)
    shutil.copy(ROOT / "crates/stark/tests/data/fibonacci.json", tmp_path / "air.json")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.M | re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)
