from typing import final

import numpy as np
from numpy.typing import NDArray

from proofmill import circom
from proofmill._stubs import ProofOf, ProvingKeyOf, VerifyingKeyOf, _Inputs, _Path, _Progress

@final
class ProvingKey(ProvingKeyOf[ProvingKey, VerifyingKey, Proof]): ...
@final
class VerifyingKey(VerifyingKeyOf[VerifyingKey]): ...
@final
class Proof(ProofOf[ProvingKey, VerifyingKey, Proof]): ...

def fullprove(
    inputs: _Inputs,
    circuit: _Path | bytes | circom.WitnessCalculator,
    key: _Path | bytes | ProvingKey,
    *,
    threads: int | None = None,
    level: str | None = None,
    progress: _Progress = None,
    allow_insecure_setup: bool = False,
) -> Proof: ...

def verify_batch(
    key: _Path | bytes | VerifyingKey | ProvingKey,
    proofs: list[Proof],
    *,
    allow_insecure_setup: bool = False,
) -> None: ...
def find_invalid(
    key: _Path | bytes | VerifyingKey | ProvingKey,
    proofs: list[Proof],
    *,
    allow_insecure_setup: bool = False,
) -> list[int]: ...

@final
class Sums:
    @staticmethod
    def of_wires(
        key: _Path | bytes | ProvingKey,
        first: int,
        values: NDArray[np.uint64],
        *,
        threads: int | None = None,
        level: str | None = None,
    ) -> Sums: ...
    @staticmethod
    def of_quotient(
        key: _Path | bytes | ProvingKey,
        first: int,
        values: NDArray[np.uint64],
        *,
        threads: int | None = None,
        level: str | None = None,
    ) -> Sums: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Sums: ...
    def to_bytes(self) -> bytes: ...
    def __add__(self, other: Sums, /) -> Sums: ...
    def __radd__(self, other: Sums, /) -> Sums: ...

def quotient(
    key: _Path | bytes | ProvingKey,
    witness: _Path | bytes | circom.Witness,
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
def constraints(
    key: _Path | bytes | ProvingKey,
    witness: _Path | bytes | circom.Witness,
    *,
    threads: int | None = None,
    level: str | None = None,
) -> NDArray[np.uint64]: ...
@final
class DividedQuotient:
    LANES: int
    def __new__(cls, points: int) -> DividedQuotient: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    def interpolate(
        self, first: int, values: NDArray[np.uint64], *, threads: int | None = None, level: str | None = None
    ) -> NDArray[np.uint64]: ...
    def extend(
        self, first: int, values: NDArray[np.uint64], *, threads: int | None = None, level: str | None = None
    ) -> NDArray[np.uint64]: ...
    def finish(
        self, first: int, values: NDArray[np.uint64], *, threads: int | None = None, level: str | None = None
    ) -> NDArray[np.uint64]: ...

def assemble(
    key: _Path | bytes | ProvingKey,
    witness: _Path | bytes | circom.Witness,
    sums: Sums,
    *,
    allow_insecure_setup: bool = False,
) -> Proof: ...
def shape(key: _Path | bytes | ProvingKey) -> tuple[int, int]: ...
def slice(key: _Path | bytes | ProvingKey, wires: tuple[int, int], domain: tuple[int, int]) -> list[tuple[int, int]]: ...

__all__ = [
    "DividedQuotient",
    "Proof",
    "ProvingKey",
    "Sums",
    "VerifyingKey",
    "assemble",
    "constraints",
    "find_invalid",
    "fullprove",
    "quotient",
    "shape",
    "slice",
    "verify_batch",
]
