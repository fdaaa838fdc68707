"""Sums of points against py_ecc."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py_ecc import optimized_bls12_381, optimized_bn128

import proofmill as pm


class Group:
    """A group of py_ecc, with the layout of its arrays."""

    def __init__(self, curve, generator, zero, function, words, extension):
        self.curve, self.generator, self.zero = curve, generator, zero
        self.function, self.words, self.extension = function, words, extension

    def pack(self, point):
        if self.curve.is_inf(point):
            return b"\0" * (16 * self.words * self.extension)
        coordinates = self.curve.normalize(point)
        integers = [n for c in coordinates for n in (c.coeffs if self.extension == 2 else [c.n])]
        return b"".join(int(n).to_bytes(8 * self.words, "little") for n in integers)

    def array(self, points):
        width = 2 * self.words * self.extension
        return np.frombuffer(b"".join(map(self.pack, points)), np.uint64).reshape(-1, width)

    def sum(self, points, scalars):
        total = self.zero
        for point, scalar in zip(points, scalars):
            total = self.curve.add(total, self.curve.multiply(point, scalar))
        return total


bn, bls = optimized_bn128, optimized_bls12_381
GROUPS = {
    "bn254_g1": Group(bn, bn.G1, bn.Z1, pm.msm.bn254_g1, 4, 1),
    "bn254_g2": Group(bn, bn.G2, bn.Z2, pm.msm.bn254_g2, 4, 2),
    "bls12_381_g1": Group(bls, bls.G1, bls.Z1, pm.msm.bls12_381_g1, 6, 1),
    "bls12_381_g2": Group(bls, bls.G2, bls.Z2, pm.msm.bls12_381_g2, 6, 2),
}


@pytest.fixture(params=GROUPS)
def group(request):
    return GROUPS[request.param]


def pack_scalars(scalars):
    return np.frombuffer(b"".join(scalar.to_bytes(32, "little") for scalar in scalars), np.uint64).reshape(-1, 4)


def test_known_points(group):
    curve, order = group.curve, group.curve.curve_order
    rng = np.random.default_rng(1)
    multiples = [curve.multiply(group.generator, int(k)) for k in rng.integers(1, 1 << 32, 8)]
    points = [*multiples, group.zero, multiples[0], curve.neg(multiples[1]), group.generator]
    scalars = [0, 1, order - 1, order // 2, 2**64, 2**128 - 1, 3, int.from_bytes(rng.bytes(31), "little"), 5, 9, 1, 2**200]
    a, k = group.array(points), pack_scalars(scalars)
    expected = group.pack(group.sum(points, scalars))
    assert group.function(a, k).tobytes() == expected
    for level in pm.levels():
        assert group.function(a, k, level=level, threads=1).tobytes() == expected
    many = group.function(np.tile(a, (30, 1)), np.tile(k, (30, 1)))
    assert many.tobytes() == group.pack(curve.multiply(group.sum(points, scalars), 30))


def test_empty(group):
    result = group.function(group.array([]), pack_scalars([]))
    assert result.shape == (2 * group.words * group.extension,) and not result.any()


G1 = GROUPS["bn254_g1"]
SCALARS = st.sampled_from([0, 1, 2, bn.curve_order - 1, 2**128]) | st.integers(0, bn.curve_order - 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), SCALARS), max_size=5))
def test_random_sums(terms):
    points = [bn.multiply(bn.G1, k) for k, _ in terms]
    scalars = [scalar for _, scalar in terms]
    result = pm.msm.bn254_g1(G1.array(points), pack_scalars(scalars))
    assert result.tobytes() == G1.pack(G1.sum(points, scalars))


def test_refused(group):
    a, k = group.array([group.generator] * 3), pack_scalars([1, 2, 3])
    wrong = a.copy()
    wrong[1, 0] ^= np.uint64(1)
    with pytest.raises(ValueError, match="index 1"):
        group.function(wrong, k)
    large = a.copy()
    large[2] = 2**64 - 1
    with pytest.raises(ValueError, match="index 2"):
        group.function(large, k)
    with pytest.raises(ValueError, match="scalars.*index 0"):
        group.function(a, pack_scalars([group.curve.curve_order, 0, 0]))
    with pytest.raises(ValueError, match="expected one for each of 3 points, found 2"):
        group.function(a, k[:2])
    for points, scalars in [(a[:, :-1].copy(), k), (a, k[:, :-1].copy()), (a[0], k), (a, k[0])]:
        with pytest.raises(ValueError, match="expected shape"):
            group.function(points, scalars)
