"""What is refused as an array, and with which words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofmill as pm

U64 = [
    (pm.goldilocks.ntt, (8,)),
    (pm.goldilocks.intt, (8, 2)),
    (lambda a: pm.goldilocks.lde(a, 2), (8, 2)),
    (pm.hash.poseidon, (8, 2)),
    (pm.hash.poseidon2, (8,)),
    (lambda a: pm.hash.rows(a, "keccak"), (8, 2)),
    (pm.hash.poseidon_bn254, (8, 4)),
    (pm.merkle.Tree, (8, 2)),
    (pm.merkle.root, (8, 2)),
    (pm.circom.Witness.from_numpy, (8, 4)),
    (lambda a: pm.msm.bn254_g1(a, np.zeros((8, 4), np.uint64)), (8, 8)),
    (lambda a: pm.msm.bn254_g1(np.zeros((8, 8), np.uint64), a), (8, 4)),
]
KINDS = [*((function, shape, np.uint64) for function, shape in U64), (pm.sha256.pairs, (8, 64), np.uint8)]


def unaligned(shape, dtype):
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    return np.zeros(size + 1, np.uint8)[1:].view(dtype).reshape(shape)


@pytest.mark.parametrize("function, shape, dtype", KINDS)
def test_refused(function, shape, dtype):
    good = np.zeros(shape, dtype)
    good.setflags(write=False)
    function(good)
    wrong = np.dtype(np.float64 if dtype == np.uint8 else np.uint32)
    refused = [
        (good.tolist(), TypeError, "numpy.asarray"),
        (None, TypeError, "numpy.asarray"),
        (good.astype(wrong), TypeError, "astype"),
        (good.astype(np.int64), TypeError, "astype"),
        (good.astype(object), TypeError, "astype"),
        (np.repeat(good, 2, axis=0)[::2], ValueError, "contiguous"),
        (good[::-1], ValueError, "contiguous"),
        (np.zeros((2, *shape, 2), dtype), ValueError, "expected shape"),
        (np.zeros((), dtype), ValueError, "expected shape"),
    ]
    if dtype == np.uint64:
        refused += [
            (good.astype(">u8"), TypeError, "astype"),
            (unaligned(shape, dtype), ValueError, "aligned"),
        ]
    if len(shape) == 2:
        refused += [(np.asfortranarray(good), ValueError, "contiguous")]
    for array, error, words in refused:
        if function is pm.hash.poseidon_bn254 and not isinstance(array, np.ndarray):
            continue
        with pytest.raises(error, match=words) as caught:
            function(array)
        assert "\n" not in str(caught.value)
        if words in ("contiguous", "aligned"):
            function(array.copy(order="C"))


def test_not_changed():
    a = np.arange(64, dtype=np.uint64).reshape(16, 4)
    before = a.copy()
    pm.goldilocks.ntt(a)
    pm.goldilocks.lde(a, 4)
    pm.hash.poseidon2(a)
    assert np.array_equal(a, before)


SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@given(st.sampled_from([function for function, _ in U64]), SHAPES, st.sampled_from([0, 2**64 - 1]))
def test_any_shape(function, shape, value):
    """A result or one of three exceptions: nothing else, and no crash."""
    try:
        function(np.full(shape, value, np.uint64))
    except (ValueError, pm.Malformed):
        pass


@given(SHAPES)
def test_any_shape_of_bytes(shape):
    a = np.zeros(shape, np.uint8)
    assert len(pm.sha256.digest(a)) == 32
    try:
        pm.sha256.pairs(a)
    except ValueError:
        pass
