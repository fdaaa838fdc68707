"""The time of calls that do little. The limits are far above what is measured, for busy machines."""

import timeit

import numpy as np

import proofmill as pm


def best(call, number):
    return min(timeit.repeat(call, number=number, repeat=7)) / number


def test_overhead():
    row = np.arange(8, dtype=np.uint64)
    vector = np.arange(16, dtype=np.uint64)
    times = {
        "poseidon": best(lambda: pm.hash.poseidon(row), 1000),
        "poseidon2": best(lambda: pm.hash.poseidon2(row), 1000),
        "sha256.digest": best(lambda: pm.sha256.digest(b"abc"), 1000),
        "ntt": best(lambda: pm.goldilocks.ntt(vector), 200),
    }
    print({name: f"{1e6 * time:.2f} microseconds" for name, time in times.items()})
    assert times.pop("ntt") < 1e-3
    assert all(time < 20e-6 for time in times.values())
