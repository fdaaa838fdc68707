"""The examples of the documentation run."""

import re
import shutil
from pathlib import Path

import pytest
import test_bench
import test_service
from conftest import ROOT, SMALL, may_skip

FILES = {
    "circuit.zkey": "groth16.zkey",
    "verification_key.json": "groth16.vk.json",
    **{name: name for name in ["circuit.r1cs", "circuit.sym", "circuit.wasm", "input.json", "pot8.ptau", "witness.wtns"]},
}
# Sections that need programs.
PROGRAMS = {"A service": test_service.program(), "Measure": test_bench.program()}


@pytest.fixture
def files(tmp_path, monkeypatch):
    for module in ("matplotlib", "pandas"):
        pytest.importorskip(module)
    for name, source in FILES.items():
        shutil.copy(SMALL / source, tmp_path / name)
    shutil.copy(ROOT / "crates/stark/tests/data/fibonacci.json", tmp_path / "air.json")
    shutil.copy(Path(__file__).parent / "data/bench.json", tmp_path / "runs.json")
    monkeypatch.chdir(tmp_path)


def run(page, without=()):
    sections = re.split(r"^## (.*)\n", (ROOT / page).read_text(), flags=re.M)
    names, count = {}, 0
    for title, text in zip(["", *sections[1::2]], sections[::2]):
        for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S) if title not in without else []:
            exec(block, names)
            count += 1
    assert count


@pytest.mark.parametrize("page", ["docs/python.md", "crates/python/README.md"])
def test_examples(page, files):
    run(page, without=PROGRAMS)


@pytest.mark.skipif(may_skip(*PROGRAMS.values()), reason="proofmill-server or proofmill-bench is not built")
def test_examples_with_programs(files, tmp_path, monkeypatch):
    for name in ("SERVER", "TOKEN", "CA_CERT"):
        monkeypatch.delenv(f"PROOFMILL_{name}", raising=False)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/proofmill-bench").symlink_to(PROGRAMS["Measure"].resolve())
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setenv("PROOFMILL_BENCH_DB", str(tmp_path / "bench.db"))
    with test_service.serving(tmp_path) as server:
        monkeypatch.setenv("PROOFMILL_DATA", str(server.data))
        run("docs/python.md")
