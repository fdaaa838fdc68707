import numpy as np
from numpy.typing import NDArray

def digest(message: bytes | NDArray[np.uint8]) -> bytes: ...
def pairs(a: NDArray[np.uint8], *, threads: int | None = None, level: str | None = None) -> NDArray[np.uint8]: ...

__all__ = ["digest", "pairs"]
