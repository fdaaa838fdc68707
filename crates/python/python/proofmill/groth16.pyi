from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from proofmill import circom

_Path = str | PathLike[str]
_Progress = Callable[[str], object] | bool | None
_Public = _Path | Sequence[int | str]

@final
class ProvingKey:
    def __new__(cls, source: _Path | bytes | ProvingKey) -> ProvingKey: ...
    @staticmethod
    def setup(
        circuit: _Path | bytes | circom.R1cs,
        powers: _Path,
        *,
        threads: int | None = None,
        level: str | None = None,
        progress: _Progress = None,
    ) -> ProvingKey: ...
    def prove(
        self,
        witness: _Path | bytes | circom.Witness,
        *,
        threads: int | None = None,
        level: str | None = None,
        progress: _Progress = None,
        allow_insecure_setup: bool = False,
    ) -> Proof: ...
    @property
    def verifying_key(self) -> VerifyingKey: ...
    @property
    def public_signals(self) -> int: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...

@final
class VerifyingKey:
    def __new__(cls, source: _Path | bytes | VerifyingKey) -> VerifyingKey: ...
    @staticmethod
    def from_json(text: str) -> VerifyingKey: ...
    def to_json(self) -> str: ...
    def save(self, path: _Path, *, allow_insecure_setup: bool = False) -> None: ...
    @property
    def public_signals(self) -> int: ...
    @property
    def insecurity(self) -> str | None: ...
    def solidity_verifier(self, *, allow_insecure_setup: bool = False) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Proof:
    @staticmethod
    def open(path: _Path, public: _Public) -> Proof: ...
    @staticmethod
    def from_json(text: str, public: _Public) -> Proof: ...
    def verify(
        self,
        key: _Path | bytes | VerifyingKey | ProvingKey | None = None,
        public: _Public | None = None,
        *,
        allow_insecure_setup: bool = False,
    ) -> None: ...
    @property
    def public(self) -> tuple[int, ...]: ...
    def to_json(self) -> str: ...
    def public_json(self) -> str: ...
    def save(self, proof: _Path, public: _Path) -> None: ...
    def solidity_calldata(self) -> str: ...

def fullprove(
    inputs: dict[str, Any] | str | bytes | PathLike[str],
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
