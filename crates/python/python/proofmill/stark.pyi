from collections.abc import Callable, Sequence
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from proofmill._stubs import _Path, _Progress

@final
class Air:
    def __new__(cls, source: _Path | bytes | Air) -> Air: ...
    @property
    def columns(self) -> int: ...
    @property
    def public_values(self) -> int: ...
    @property
    def constraints(self) -> int: ...
    def prove(
        self,
        trace: NDArray[np.uint64],
        public: Sequence[int],
        *,
        hash: str = "keccak",
        security: int = 100,
        zero_knowledge: bool = False,
        memory: Literal["fast", "balanced", "low"] = "fast",
        threads: int | None = None,
        level: str | None = None,
        progress: _Progress = None,
    ) -> Proof: ...
    def to_json(self) -> str: ...

@final
class Proof:
    def __new__(cls, source: _Path | bytes | Proof) -> Proof: ...
    def verify(
        self,
        air: _Path | bytes | Air,
        public: Sequence[int],
        *,
        rows: int | None = None,
        hash: str = "keccak",
        security: int = 100,
        zero_knowledge: bool = False,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def hash(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...

@final
class Cosets:
    COUNT: int
    def __new__(
        cls,
        air: Air,
        trace: NDArray[np.uint64],
        public: Sequence[int],
        *,
        hash: str = "keccak",
        security: int = 100,
        threads: int | None = None,
        level: str | None = None,
    ) -> Cosets: ...
    def answer(self, coset: int, question: bytes, *, threads: int | None = None, level: str | None = None) -> bytes: ...

def prove_with_cosets(
    air: Air,
    trace: NDArray[np.uint64],
    public: Sequence[int],
    ask: Callable[[list[tuple[int, bytes]]], Sequence[bytes]],
    *,
    hash: str = "keccak",
    security: int = 100,
    threads: int | None = None,
    level: str | None = None,
    progress: _Progress = None,
) -> Proof: ...

__all__ = ["Air", "Cosets", "Proof", "prove_with_cosets"]
