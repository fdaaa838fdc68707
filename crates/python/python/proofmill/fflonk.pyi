from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from proofmill import circom
from proofmill._stubs import ProofOf, ProvingKeyOf, VerifyingKeyOf, _Inputs, _Path, _Progress
from proofmill.plonk import Powers as Powers

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

def powers(key: _Path | bytes | ProvingKey) -> tuple[int, int]: ...
def prove_with_commitments(
    key: _Path | bytes | ProvingKey,
    witness: _Path | bytes | circom.Witness,
    commit: Callable[[NDArray[np.uint64]], NDArray[np.uint64]],
    *,
    threads: int | None = None,
    level: str | None = None,
    progress: _Progress = None,
    allow_insecure_setup: bool = False,
) -> Proof: ...

__all__ = ["Powers", "Proof", "ProvingKey", "VerifyingKey", "fullprove", "powers", "prove_with_commitments"]
