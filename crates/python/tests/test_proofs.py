"""Groth16, PLONK and fflonk: the same tests for all."""

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL

import proofmill as pm

SYSTEMS = ["groth16", "plonk", "fflonk"]


@pytest.fixture(params=SYSTEMS)
def system(request, small):
    return getattr(pm, request.param)


@pytest.fixture
def name(system):
    return system.__name__.rpartition(".")[2]


@pytest.fixture
def key(system, name):
    return system.ProvingKey(f"{name}.zkey")


@pytest.fixture
def signals():
    return [int(signal) for signal in json.loads((SMALL / "public.json").read_text())]


def test_prove_and_verify(system, name, key, signals):
    proof = key.prove("witness.wtns", threads=2)
    assert proof.verify() is None
    assert proof.public == tuple(signals)
    assert key.public_signals == len(signals)
    proof.verify(f"{name}.vk.json")
    proof.verify(key, signals)
    proof.verify(system.VerifyingKey(Path(f"{name}.vk.json")), [str(signal) for signal in signals])
    again = system.Proof.from_json(proof.to_json(), json.loads(proof.public_json()))
    again.verify(key.verifying_key, "public.json")
    assert again.to_json() == proof.to_json()


def test_proof_of_snarkjs(system, name, key, signals):
    proof = system.Proof.open(f"{name}.proof.json", "public.json")
    proof.verify(key)
    with pytest.raises(ValueError, match="key: expected one"):
        proof.verify()
    with pytest.raises(pm.Rejected):
        proof.verify(key, [*signals[:-1], 7])
    with pytest.raises(pm.Mismatch):
        proof.verify(key, signals[:-1])


def test_batch(small, signals):
    groth16 = pm.groth16
    key = groth16.ProvingKey("groth16.zkey")
    proofs = [key.prove("witness.wtns") for _ in range(5)]
    for either in [key, key.verifying_key, "groth16.vk.json", Path("groth16.vk.json").read_bytes()]:
        assert groth16.verify_batch(either, proofs) is None
        assert groth16.find_invalid(either, proofs) == []
    with pytest.raises(pm.Malformed, match="at least one proof"):
        groth16.verify_batch(key, [])
    with pytest.raises(TypeError):
        groth16.verify_batch(key, [None])
    proofs[1] = groth16.Proof.from_json(proofs[1].to_json(), [*signals[:-1], 7])
    proofs[3] = groth16.Proof.from_json(proofs[3].to_json(), signals[:-1])
    assert groth16.find_invalid(key, proofs) == [1, 3]
    with pytest.raises(pm.Rejected, match="^proof 1: "):
        groth16.verify_batch(key, proofs)
    with pytest.raises(pm.Mismatch, match="^proof 1: "):
        groth16.verify_batch(key, proofs[2:])


def test_changed_proofs_are_refused(system, key, signals):
    proof = json.loads(key.prove("witness.wtns").to_json())

    def digits(node):
        for at, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, (dict, list)):
                yield from digits(value)
            elif value.isdecimal():
                yield node, at

    places = list(digits(proof))
    assert places
    for node, at in places:
        kept, node[at] = node[at], str(int(node[at]) ^ 1)
        with pytest.raises((pm.Rejected, pm.Malformed)):
            system.Proof.from_json(json.dumps(proof), signals).verify(key)
        node[at] = kept
    system.Proof.from_json(json.dumps(proof), signals).verify(key)


def test_other_sources(system, name, key):
    content = Path(f"{name}.zkey").read_bytes()
    assert key.to_bytes() == content
    assert system.ProvingKey(content).verifying_key == key.verifying_key == system.VerifyingKey(f"{name}.zkey")
    assert key.verifying_key.insecurity is None
    text = key.verifying_key.to_json()
    assert json.loads(text) == json.loads(Path(f"{name}.vk.json").read_text())
    assert system.VerifyingKey.from_json(text) == key.verifying_key
    assert "contract" in key.verifying_key.solidity_verifier()
    witness = pm.circom.Witness(Path("witness.wtns").read_bytes())
    for source in [witness, witness.to_bytes(), Path("witness.wtns")]:
        key.prove(source).verify()


def test_files(system, key, tmp_path):
    proof = key.prove("witness.wtns")
    proof.save(tmp_path / "proof.json", tmp_path / "public.json")
    key.save(tmp_path / "key")
    key.verifying_key.save(tmp_path / "vk.json")
    system.Proof.open(tmp_path / "proof.json", tmp_path / "public.json").verify(tmp_path / "vk.json")
    assert (tmp_path / "key").read_bytes() == key.to_bytes()


def test_fullprove(system, key, name):
    inputs = json.loads(Path("input.json").read_text())
    values = {
        "secret": int(inputs["secret"]),
        "scope": 2026,
        "siblings": [int(sibling) for sibling in inputs["siblings"]],
        "is_right": np.array([0, 1], dtype=np.uint8),
    }
    circuit = pm.circom.WitnessCalculator("circuit.wasm")
    expected = key.prove("witness.wtns").public
    for given in [inputs, values, json.dumps(inputs), json.dumps(inputs).encode(), Path("input.json")]:
        assert system.fullprove(given, circuit, key).public == expected
    system.fullprove(values, "circuit.wasm", f"{name}.zkey", threads=1, level="portable").verify()
    for wrong, error in [
        ({**values, "scope": 1.5}, TypeError),
        ({**values, "scope": None}, TypeError),
        ({**values, 3: 1}, TypeError),
        ({**values, "siblings": np.array([1.0, 2.0])}, TypeError),
        ({"secret": 1}, pm.Mismatch),
        ({**values, "is_right": [0, 2]}, pm.Unsatisfied),
        ("{", pm.Malformed),
        (3, TypeError),
    ]:
        with pytest.raises(error):
            system.fullprove(wrong, circuit, key)
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="dimensions"):
        system.fullprove({"secret": endless}, circuit, key)


def test_wrong_witnesses(key):
    values = pm.circom.Witness("witness.wtns").to_numpy()
    values[5, 0] ^= np.uint64(1)
    with pytest.raises(pm.Unsatisfied) as caught:
        key.prove(pm.circom.Witness.from_numpy(values))
    assert isinstance(caught.value, pm.Error) and "\n" not in str(caught.value)
    with pytest.raises(pm.Mismatch):
        key.prove(pm.circom.Witness.from_numpy(values[:-1]))


def test_wrong_files(system, key, tmp_path):
    with pytest.raises(FileNotFoundError):
        system.ProvingKey(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        system.VerifyingKey(tmp_path)
    with pytest.raises(pm.Malformed):
        system.ProvingKey("witness.wtns")
    with pytest.raises(pm.Malformed):
        system.ProvingKey(b"")
    with pytest.raises(TypeError, match="expected a path, bytes or a Witness, found int"):
        key.prove(3)
    other = next(other for other in SYSTEMS if not system.__name__.endswith(other))
    with pytest.raises(pm.Malformed):
        system.ProvingKey(f"{other}.zkey")


@pytest.mark.parametrize("public", [3, [1.5, 0, 0], [-1, 0, 0], [2**254, 0, 0], ["x", 0, 0]])
def test_wrong_signals(system, name, public):
    with pytest.raises((TypeError, ValueError)):
        system.Proof.open(f"{name}.proof.json", public)


@pytest.mark.parametrize("options", [{"threads": 0}, {"threads": 10**9}, {"level": "none"}, {"progress": 3}])
def test_wrong_options(key, options):
    with pytest.raises((TypeError, ValueError)):
        key.prove("witness.wtns", **options)


def test_every_level(key):
    assert pm.levels()[0] == "portable"
    for level in pm.levels():
        key.prove("witness.wtns", level=level, threads=1).verify()


def test_insecure_setup(small, tmp_path):
    key = pm.groth16.ProvingKey.setup("circuit.r1cs", "pot8.ptau")
    assert key.verifying_key.insecurity
    with pytest.raises(pm.InsecureSetup):
        key.prove("witness.wtns")
    with pytest.warns(pm.InsecureSetupWarning, match="forge"):
        proof = key.prove("witness.wtns", allow_insecure_setup=True)
    with pytest.raises(pm.InsecureSetup):
        proof.verify()
    with pytest.warns(pm.InsecureSetupWarning):
        proof.verify(allow_insecure_setup=True)
    with pytest.raises(pm.InsecureSetup):
        key.verifying_key.save(tmp_path / "vk.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pm.InsecureSetupWarning):
            key.prove("witness.wtns", allow_insecure_setup=True)


def test_setup(small):
    key = pm.plonk.ProvingKey.setup(pm.circom.R1cs("circuit.r1cs"), "pot8.ptau", threads=1)
    assert key.to_bytes() == (small / "plonk.zkey").read_bytes()
    with pytest.raises(FileNotFoundError):
        pm.fflonk.ProvingKey.setup("circuit.r1cs", "none")
    with pytest.raises(pm.Mismatch):
        pm.fflonk.ProvingKey.setup("circuit.r1cs", "pot8.ptau")


SNARKJS = shutil.which("snarkjs")


@pytest.mark.skipif(SNARKJS is None and "PROOFMILL_REQUIRE_SNARKJS" not in os.environ, reason="snarkjs is not installed")
def test_snarkjs_accepts(system, name, key, tmp_path):
    key.prove("witness.wtns").save(tmp_path / "proof.json", tmp_path / "public.json")
    command = [SNARKJS, name, "verify", f"{name}.vk.json", tmp_path / "public.json", tmp_path / "proof.json"]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    assert "OK!" in said or "VERIFIED SUCCESSFULLY" in said
