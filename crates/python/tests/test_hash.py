"""Hashes against the known answers of other programs."""

import hashlib

import numpy as np
import pytest
from conftest import answers
from hypothesis import given
from hypothesis import strategies as st

import proofmill as pm

P = 2**64 - 2**32 + 1


def words(elements):
    return np.array([int(element, 16) for element in elements], dtype=np.uint64)


def check_rows(function, cases):
    assert cases
    for case in cases:
        row, digest = words(case["in"]), words(case["out"])
        if len(row) == 0:
            continue
        assert np.array_equal(function(row), digest)
        for count in [1, 2, 33, 3000]:
            digests = function(np.tile(row, (count, 1)))
            assert digests.shape == (count, 4) and (digests == digest).all()


def test_poseidon_of_polygon():
    check_rows(pm.hash.poseidon, answers("hermez-kat")["linear_hash"])


def test_poseidon_of_plonky2():
    """A node of plonky2 is the digest of a row of its children."""
    check_rows(pm.hash.poseidon, answers("plonky2-poseidon")["nodes"])


def test_poseidon2_of_plonky3():
    cases = answers("plonky3-poseidon2")
    check_rows(pm.hash.poseidon2, cases["width_12"]["rows"])
    for case in cases["width_8"]["rows"]:
        if case["in"]:
            row = words(case["in"])[None]
            assert np.array_equal(pm.hash.rows(row, "poseidon2-8").view(np.uint64)[0], words(case["out"]))


def test_poseidon_of_circomlib():
    for case in answers("circomlib-poseidon"):
        inputs = [int(value) for value in case["in"]]
        assert pm.hash.poseidon_bn254(inputs) == int(case["out"])
        a = np.frombuffer(b"".join(value.to_bytes(32, "little") for value in inputs), np.uint64).reshape(-1, 4)
        digest = np.frombuffer(int(case["out"]).to_bytes(32, "little"), np.uint64)
        assert np.array_equal(pm.hash.poseidon_bn254(a), digest)
        assert (pm.hash.poseidon_bn254(np.tile(a, (5, 1, 1))) == digest).all()
    # The example of circomlib's documentation.
    assert pm.hash.poseidon_bn254([1, 2]) == 7853200120776062878684798364095072458815029376092732009249414926327459813530


def test_wrong_inputs():
    for inputs in [[], [1] * 17, [-1], [2**254]]:
        with pytest.raises(ValueError):
            pm.hash.poseidon_bn254(inputs)
    for shape in [(0, 4), (17, 4), (2, 0, 4), (2, 17, 4), (2, 5)]:
        with pytest.raises(ValueError):
            pm.hash.poseidon_bn254(np.zeros(shape, np.uint64))
    with pytest.raises(TypeError):
        pm.hash.poseidon_bn254([1.5])
    for function in [pm.hash.poseidon, pm.hash.poseidon2]:
        with pytest.raises(ValueError, match="at row 1"):
            function(np.array([[0, 0], [1, P]], np.uint64))
    with pytest.raises(ValueError, match="hash"):
        pm.hash.rows(np.zeros((1, 1), np.uint64), "md5")


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3), max_size=20))
def test_rows_of_sha256(rows):
    """Rows are hashed as little-endian words."""
    a = np.array(rows, dtype=np.uint64).reshape(-1, 3)
    expected = [hashlib.sha256(row.astype("<u8").tobytes()).digest() for row in a]
    assert [bytes(digest) for digest in pm.hash.rows(a, "sha256")] == expected


@given(st.binary(max_size=300))
def test_digest(message):
    expected = hashlib.sha256(message).digest()
    assert pm.sha256.digest(message) == expected
    assert pm.sha256.digest(np.frombuffer(message, np.uint8)) == expected


def test_digest_of_other_types():
    for message in ["text", bytearray(b"x"), 3, np.zeros(4)]:
        with pytest.raises(TypeError):
            pm.sha256.digest(message)


@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 4096, 4097, 10000])
def test_pairs(count):
    a = np.random.default_rng(count).integers(0, 256, (count, 64), dtype=np.uint8)
    digests = pm.sha256.pairs(a)
    assert digests.shape == (count, 32) and digests.dtype == np.uint8
    assert [bytes(digest) for digest in digests] == [hashlib.sha256(pair).digest() for pair in a]
