"""Transforms against plain integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofmill as pm

P = 2**64 - 2**32 + 1
EDGES = [0, 1, 2, 2**32 - 1, 2**32, 2**32 + 1, 2**63, P - 2**32, P - 2, P - 1]
ELEMENTS = st.sampled_from(EDGES) | st.integers(0, P - 1)


def evaluate(coefficients, x):
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % P
    return value


def values(coefficients, rows, shift):
    root = pm.goldilocks.root_of_unity(rows)
    return [evaluate(coefficients, shift * pow(root, i, P) % P) for i in range(rows)]


VECTORS = st.integers(0, 5).flatmap(lambda log: st.lists(ELEMENTS, min_size=1 << log, max_size=1 << log))


@given(VECTORS, st.sampled_from([1, 7, P - 1]))
def test_ntt(coefficients, shift):
    a = np.array(coefficients, dtype=np.uint64)
    transformed = pm.goldilocks.ntt(a, shift=shift)
    assert transformed.tolist() == values(coefficients, len(a), shift)
    assert pm.goldilocks.intt(transformed, shift=shift).tolist() == coefficients


@given(VECTORS, st.sampled_from([1, 2, 4, 8]), st.sampled_from([7, 1, 123456789]))
def test_lde(coefficients, blowup, shift):
    a = pm.goldilocks.ntt(np.array(coefficients, dtype=np.uint64))
    extended = pm.goldilocks.lde(a, blowup, shift=shift)
    assert extended.tolist() == values(coefficients, len(a) * blowup, shift)


@given(st.integers(0, 4), st.integers(0, 5), st.data())
def test_columns(log_rows, columns, data):
    rows = 1 << log_rows
    flat = data.draw(st.lists(ELEMENTS, min_size=rows * columns, max_size=rows * columns))
    a = np.array(flat, dtype=np.uint64).reshape(rows, columns)
    for function in [pm.goldilocks.ntt, pm.goldilocks.intt, lambda a: pm.goldilocks.lde(a, 2)]:
        result = function(a)
        assert result.shape[1] == columns
        for column in range(columns):
            assert np.array_equal(result[:, column], function(np.ascontiguousarray(a[:, column])))


@pytest.mark.parametrize("level", pm.levels())
@pytest.mark.parametrize("threads", [1, 2])
def test_levels_and_threads(level, threads):
    rng = np.random.default_rng(3)
    a = rng.integers(0, P, (1 << 12, 3), dtype=np.uint64)
    expected = pm.goldilocks.ntt(a)
    assert np.array_equal(pm.goldilocks.ntt(a, level=level, threads=threads), expected)
    assert np.array_equal(pm.goldilocks.intt(expected, level=level, threads=threads), a)


def test_root_of_unity():
    for log in range(33):
        root = pm.goldilocks.root_of_unity(1 << log)
        assert pow(root, 1 << log, P) == 1 and (log == 0 or pow(root, 1 << log - 1, P) == P - 1)


@pytest.mark.parametrize("value", [P, P + 1, 2**64 - 1])
def test_values_not_below_the_modulus(value):
    a = np.array([0, 1, value, 3], dtype=np.uint64)
    for function in [pm.goldilocks.ntt, pm.goldilocks.intt, lambda a: pm.goldilocks.lde(a, 2)]:
        with pytest.raises(ValueError, match="at index 2"):
            function(a)


@pytest.mark.parametrize("rows", [0, 3, 6, 1000])
def test_rows_that_are_no_power_of_two(rows):
    with pytest.raises(ValueError, match="power of two"):
        pm.goldilocks.ntt(np.zeros(rows, np.uint64))


def test_wrong_numbers():
    a = np.zeros(4, np.uint64)
    for blowup in [0, 3, 2**31, 2**63]:
        with pytest.raises(ValueError, match="blowup"):
            pm.goldilocks.lde(a, blowup)
    for shift in [0, P]:
        with pytest.raises(ValueError, match="shift"):
            pm.goldilocks.ntt(a, shift=shift)
    with pytest.raises(OverflowError):
        pm.goldilocks.lde(a, -1)
    with pytest.raises(ValueError, match="rows"):
        pm.goldilocks.root_of_unity(2**33)
