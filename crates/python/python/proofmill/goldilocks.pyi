from typing import Final

import numpy as np
from numpy.typing import NDArray

MODULUS: Final[int]

def ntt(a: NDArray[np.uint64], *, shift: int = 1, threads: int | None = None, level: str | None = None) -> NDArray[np.uint64]: ...
def intt(a: NDArray[np.uint64], *, shift: int = 1, threads: int | None = None, level: str | None = None) -> NDArray[np.uint64]: ...
def lde(
    a: NDArray[np.uint64],
    blowup: int,
    *,
    shift: int = 7,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
def root_of_unity(rows: int) -> int: ...

__all__ = ["MODULUS", "intt", "lde", "ntt", "root_of_unity"]
