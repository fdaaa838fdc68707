"""Merkle trees."""

import hashlib

import numpy as np
import pytest
from conftest import answers
from hypothesis import given
from hypothesis import strategies as st

import proofmill as pm

P = 2**64 - 2**32 + 1
HASHES = ["poseidon", "poseidon2", "poseidon2-8", "poseidon2-12-8", "keccak", "sha256", "poseidon-bn254"]


def rows(count, columns, seed=0):
    return np.random.default_rng(seed).integers(0, P, (count, columns), dtype=np.uint64)


@pytest.mark.parametrize("hash", HASHES)
def test_open_and_verify(hash):
    a = rows(64, 5)
    tree = pm.merkle.Tree(a, hash)
    assert tree.root == pm.merkle.root(a, hash) == pm.merkle.root(a, hash, level="portable", threads=1)
    opening = tree.open([3, 5, 63])
    assert opening.verify(tree.root) is None
    assert opening.indices == (3, 5, 63) and np.array_equal(opening.values(), a[[3, 5, 63]])
    again = pm.merkle.Opening.from_json(opening.to_json())
    root = tree.root
    for digest in [root.hex(), "0x" + root.hex().upper(), bytes(root)]:
        known = pm.merkle.Root(digest, hash=hash, rows=64, columns=5)
        assert known == root and hash_of(known) == hash_of(root)
        again.verify(known)
    other = pm.merkle.root(rows(64, 5, seed=1), hash)
    assert other != root
    with pytest.raises(pm.Rejected):
        opening.verify(other)
    for shape in [(32, 5), (64, 4), (128, 5)]:
        with pytest.raises(pm.Mismatch):
            opening.verify(pm.merkle.Root(bytes(root), hash=hash, rows=shape[0], columns=shape[1]))
    with pytest.raises(pm.Mismatch):
        opening.verify(pm.merkle.root(a, "sha256" if hash != "sha256" else "keccak"))


def hash_of(value):
    return hash(value)


def test_sha256_tree():
    """Leaves and nodes of SHA-256, by hashlib. The leaf of a row is the digest of its little-endian words."""
    a = rows(8, 3)
    nodes = [bytes(leaf) for leaf in pm.hash.rows(a, "sha256")]
    assert nodes == [hashlib.sha256(row.astype("<u8").tobytes()).digest() for row in a]
    while len(nodes) > 1:
        nodes = [hashlib.sha256(left + right).digest() for left, right in zip(nodes[::2], nodes[1::2])]
    assert bytes(pm.merkle.root(a, "sha256")) == nodes[0]


def test_poseidon_tree():
    """Nodes of Poseidon are digests of a row of both children."""
    nodes = pm.hash.poseidon(a := rows(16, 3))
    while len(nodes) > 1:
        nodes = pm.hash.poseidon(nodes.reshape(-1, 8))
    assert bytes(pm.merkle.root(a, "poseidon")) == nodes.tobytes()


@given(st.sampled_from(HASHES), st.integers(0, 5), st.integers(1, 4), st.data())
def test_any_rows(hash, log_rows, columns, data):
    a = rows(1 << log_rows, columns)
    indices = sorted(data.draw(st.sets(st.integers(0, len(a) - 1), min_size=1)))
    tree = pm.merkle.Tree(a, hash)
    opening = tree.open(indices)
    opening.verify(tree.root)
    changed = a.copy()
    changed[indices[0], 0] ^= np.uint64(1)
    with pytest.raises(pm.Rejected):
        opening.verify(pm.merkle.root(changed, hash))


def test_refused():
    a = rows(8, 2)
    tree = pm.merkle.Tree(a)
    for indices in [[], [8], [3, 3], [5, 3]]:
        with pytest.raises(pm.Malformed):
            tree.open(indices)
    with pytest.raises(OverflowError):
        tree.open([-1])
    for size in [0, 2**63, 2**64 - 1]:
        with pytest.raises(pm.Mismatch):
            tree.open([3]).verify(pm.merkle.Root(bytes(tree.root), hash="poseidon2", rows=size, columns=size))
    for shape in [(0, 2), (2, 0)]:
        with pytest.raises(ValueError, match="expected shape"):
            pm.merkle.Tree(np.zeros(shape, np.uint64))
    for count in [3, 6]:
        with pytest.raises(pm.Malformed):
            pm.merkle.Tree(rows(count, 2))
    with pytest.raises(ValueError, match="hash"):
        pm.merkle.Tree(a, "md5")
    a = a.copy()
    a[5, 1] = P
    with pytest.raises(pm.Malformed, match="row 5"):
        pm.merkle.Tree(a)
    pm.merkle.Tree(a, "sha256")
    with pytest.raises(pm.Malformed):
        pm.merkle.Opening.from_json("{}")
    for digest, error in [("00", pm.Malformed), (b"00", ValueError), (3, TypeError), ("ff" * 32, pm.Malformed)]:
        with pytest.raises(error):
            pm.merkle.Root(digest, hash="poseidon2", rows=8, columns=2)


def test_changed_array():
    a = rows(8, 2)
    tree = pm.merkle.Tree(a)
    a[3, 0] ^= np.uint64(1)
    with pytest.raises(pm.Rejected):
        tree.open([3]).verify(tree.root)


def test_the_tree_keeps_its_array():
    tree = pm.merkle.Tree(rows(1 << 10, 8))
    tree.open([7, 1000]).verify(tree.root)
