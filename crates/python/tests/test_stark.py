"""STARKs of an AIR in JSON."""

import json

import numpy as np
import pytest
from conftest import ROOT

import proofmill as pm

P = 2**64 - 2**32 + 1


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


def test_prove_and_verify(air, trace, tmp_path):
    public = [0, 1, int(trace[-1, 1])]
    phases = []
    proof = air.prove(trace, public, threads=2, progress=phases.append)
    assert phases and proof.rows == 512 and proof.hash == "keccak"
    assert proof.verify(air, public) is None
    proof.save(tmp_path / "proof.bin")
    again = pm.stark.Proof(tmp_path / "proof.bin")
    assert again.to_bytes() == proof.to_bytes()
    again.verify(pm.stark.Air(air.to_json().encode()), public, rows=512)
    with pytest.raises(pm.Rejected):
        proof.verify(air, [0, 1, 2])
    with pytest.raises(pm.Mismatch):
        proof.verify(air, public, rows=1024)
    with pytest.raises(pm.Mismatch):
        proof.verify(air, public, hash="poseidon2")
    with pytest.raises(pm.Mismatch):
        proof.verify(air, public[:2])
    with pytest.raises(pm.Error):
        proof.verify(air, public, security=128)
    changed = bytearray(proof.to_bytes())
    for at in range(len(changed) // 2, len(changed), len(changed) // 20):
        changed[at] ^= 1
        with pytest.raises((pm.Rejected, pm.Malformed)):
            pm.stark.Proof(bytes(changed)).verify(air, public)
        changed[at] ^= 1


@pytest.mark.parametrize("options", [{"hash": "poseidon2"}, {"zero_knowledge": True}, {"security": 60, "hash": "sha256"}])
def test_options(air, trace, options):
    public = [0, 1, int(trace[-1, 1])]
    air.prove(trace, public, memory="low", **options).verify(air, public, **options)


def test_refused(air, trace):
    public = [0, 1, int(trace[-1, 1])]
    wrong = trace.copy()
    wrong[20, 0] += np.uint64(1)
    with pytest.raises(pm.Unsatisfied):
        air.prove(wrong, public)
    with pytest.raises(pm.Mismatch):
        air.prove(np.zeros((512, 3), np.uint64), public)
    with pytest.raises(pm.Mismatch):
        air.prove(trace, public[:2])
    with pytest.raises(OverflowError):
        air.prove(trace, [0, 1, -1])
    with pytest.raises(pm.Malformed):
        air.prove(trace[:511], public)
    with pytest.raises(pm.Malformed):
        air.prove(trace, [0, 1, P])
    with pytest.raises(pm.Malformed):
        air.prove(np.full((512, 2), P, np.uint64), public)
    for options in [{"hash": "md5"}, {"memory": "none"}, {"security": 10**6}]:
        with pytest.raises(ValueError):
            air.prove(trace, public, **options)
    for source in [b"{}", json.dumps(json.loads(air.to_json()) | {"columns": 0}).encode()]:
        with pytest.raises(pm.Malformed):
            pm.stark.Air(source)
    with pytest.raises(pm.Malformed):
        pm.stark.Proof(b"PMSTARK")


def test_exception_of_callback(air, trace):
    def fail(phase):
        raise RuntimeError(phase)

    public = [0, 1, int(trace[-1, 1])]
    with pytest.raises(RuntimeError):
        air.prove(trace, public, progress=fail)
    air.prove(trace, public).verify(air, public)
