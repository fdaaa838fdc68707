"""Circuits and witnesses."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofmill as pm

MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617


def test_r1cs(small):
    circuit = pm.circom.R1cs("circuit.r1cs")
    assert (circuit.constraints, circuit.public_signals) == (144, 3)
    assert circuit.wires == len(pm.circom.Witness("witness.wtns"))
    circuit.check("witness.wtns")
    values = pm.circom.Witness("witness.wtns").to_numpy()
    values[7, 0] ^= np.uint64(1)
    with pytest.raises(pm.Unsatisfied, match="main"):
        circuit.check(pm.circom.Witness.from_numpy(values), symbols="circuit.sym")
    with pytest.raises(pm.Mismatch):
        circuit.check(pm.circom.Witness.from_values([1, 2]))
    assert pm.circom.R1cs(circuit.to_bytes()).constraints == 144


def test_witness(small, tmp_path):
    witness = pm.circom.Witness("witness.wtns")
    values = witness.to_numpy()
    assert values.dtype == np.uint64 and values.shape == (len(witness), 4)
    integers = [int.from_bytes(row.tobytes(), "little") for row in values]
    assert integers[0] == 1 and integers == [witness[i] for i in range(len(witness))]
    assert integers[1:4] == [int(signal) for signal in json.loads(Path("public.json").read_text())]
    assert witness[-1] == integers[-1]
    for index in [len(witness), -len(witness) - 1]:
        with pytest.raises(IndexError):
            witness[index]
    assert witness.to_bytes() == Path("witness.wtns").read_bytes()
    assert pm.circom.Witness.from_values(integers).to_bytes() == witness.to_bytes()
    witness.save(tmp_path / "witness.wtns")
    assert (tmp_path / "witness.wtns").read_bytes() == witness.to_bytes()
    assert str(integers[5]) not in repr(witness)


@given(st.lists(st.integers(0, MODULUS - 1) | st.sampled_from([0, 1, MODULUS - 1, MODULUS // 2]), max_size=200))
def test_witness_round_trip(integers):
    words = b"".join(integer.to_bytes(32, "little") for integer in integers)
    array = np.frombuffer(words, dtype=np.uint64).reshape(-1, 4)
    witness = pm.circom.Witness.from_numpy(array)
    assert np.array_equal(witness.to_numpy(), array)
    assert list(witness) == integers


@pytest.mark.parametrize("value", [MODULUS, MODULUS + 1, 2**256 - 1])
@pytest.mark.parametrize("index", [0, 3, 99])
def test_witness_not_below_the_modulus(value, index):
    integers = [1] * 100
    integers[index] = value
    words = b"".join(integer.to_bytes(32, "little") for integer in integers)
    with pytest.raises(ValueError, match=f"at index {index}"):
        pm.circom.Witness.from_numpy(np.frombuffer(words, dtype=np.uint64).reshape(-1, 4))


def test_calculator(small):
    inputs = json.loads(Path("input.json").read_text())
    circuit = pm.circom.WitnessCalculator("circuit.wasm", symbols="circuit.sym")
    assert circuit.calculate(inputs).to_bytes() == Path("witness.wtns").read_bytes()
    assert pm.circom.WitnessCalculator(Path("circuit.wasm").read_bytes()).calculate(inputs)[0] == 1
    with pytest.raises(pm.Malformed):
        pm.circom.WitnessCalculator(b"\0asm")
    with pytest.raises(pm.Error):
        pm.circom.WitnessCalculator("circuit.wasm", max_steps=1000).calculate(inputs)
    del inputs["secret"]
    with pytest.raises(pm.Mismatch, match="secret"):
        circuit.calculate(inputs)
