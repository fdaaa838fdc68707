"""STARKs of an AIR in JSON."""

import json

import numpy as np
import pytest
from conftest import P

import proofmill as pm

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


def cosets(air, trace, public, count=2, **options):
    """A function that asks some processes in turn, each of which has the trace, and the rounds of questions."""
    each = [pm.stark.Cosets(air, trace, public, **options) for _ in range(count)]
    rounds = []

    def ask(questions):
        rounds.append(questions)
        return [each[(coset + len(rounds)) % count].answer(coset, question) for coset, question in questions]

    return ask, rounds


@pytest.mark.parametrize("options", [{}, {"hash": "poseidon2"}, {"hash": "poseidon-bn254"}])
def test_cosets_give_the_same_proof(air, trace, options):
    public = [0, 1, int(trace[-1, 1])]
    ask, rounds = cosets(air, trace, public, **options)
    proof = pm.stark.prove_with_cosets(air, trace, public, ask, threads=2, **options)
    assert proof.to_bytes() == air.prove(trace, public, **options).to_bytes()
    assert len(rounds) == 5 and {coset for coset, _ in rounds[0]} == set(range(pm.stark.Cosets.COUNT))


def test_wrong_answers(air, trace):
    public = [0, 1, int(trace[-1, 1])]
    ask, _ = cosets(air, trace, public)
    for wrong, message in [
        (lambda questions: ask(questions)[:-1], "expected 8 answers, found 7"),
        (lambda questions: [b"" for _ in questions], "coset 0: no answer: byte 0"),
        (lambda questions: [answer[:-1] + b"\0" for answer in ask(questions)], "answers about another trace, or wrong ones"),
    ]:
        with pytest.raises(pm.Rejected, match=message):
            pm.stark.prove_with_cosets(air, trace, public, wrong)
    for wrong in (lambda questions: None, lambda questions: [1 for _ in questions]):
        with pytest.raises(TypeError):
            pm.stark.prove_with_cosets(air, trace, public, wrong)

    def lost(questions):
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        pm.stark.prove_with_cosets(air, trace, public, lost)
    changed = trace.copy()
    changed[100, 1] += 1
    ask, _ = cosets(air, changed, public)
    with pytest.raises(pm.Unsatisfied, match="row 99"):
        pm.stark.prove_with_cosets(air, changed, public, ask)
    one = pm.stark.Cosets(air, trace, public)
    for coset, question in [(0, b""), (8, bytes(8)), (0, b"\0\0\0\0\xff\0\0\0")]:
        with pytest.raises(pm.Malformed, match=f"coset {coset}: no question about this trace"):
            one.answer(coset, question)
    with pytest.raises(pm.Mismatch, match="expected 2 columns"):
        pm.stark.Cosets(air, np.zeros((512, 3), np.uint64), public)
