import numpy as np
from numpy.typing import NDArray

def bls12_381_g1(
    points: NDArray[np.uint64],
    scalars: NDArray[np.uint64],
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
def bls12_381_g2(
    points: NDArray[np.uint64],
    scalars: NDArray[np.uint64],
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
def bn254_g1(
    points: NDArray[np.uint64],
    scalars: NDArray[np.uint64],
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
def bn254_g2(
    points: NDArray[np.uint64],
    scalars: NDArray[np.uint64],
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...

__all__ = ["bls12_381_g1", "bls12_381_g2", "bn254_g1", "bn254_g2"]
