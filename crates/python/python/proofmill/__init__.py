"""Zero-knowledge proofs and their mathematics: keys and proofs of circom's circuits, STARKs, trees, signatures, kernels on NumPy arrays.

    import proofmill as pm

    key = pm.groth16.ProvingKey("circuit.zkey")
    proof = key.prove("witness.wtns", threads=8)
    proof.verify()
"""

from __future__ import annotations

import importlib
from typing import Any

from . import _proofmill
from ._proofmill import (
    Error,
    InsecureSetup,
    InsecureSetupWarning,
    Malformed,
    Mismatch,
    Rejected,
    Unsatisfied,
    __version__,
    bls,
    circom,
    fflonk,
    goldilocks,
    groth16,
    hash,
    levels,
    merkle,
    msm,
    plonk,
    sha256,
    stark,
)

__all__ = [
    "Client",
    "Error",
    "InsecureSetup",
    "InsecureSetupWarning",
    "Malformed",
    "Mismatch",
    "Rejected",
    "Unsatisfied",
    "__version__",
    "bench",
    "bls",
    "circom",
    "client",
    "fflonk",
    "goldilocks",
    "groth16",
    "hash",
    "levels",
    "merkle",
    "msm",
    "plonk",
    "ray",
    "sha256",
    "stark",
]


def __getattr__(name: str) -> Any:
    # What needs HTTP, SQLite, subprocesses and Ray is imported when it is first used.
    if name in ("bench", "client", "ray"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "Client":
        return importlib.import_module(f"{__name__}.client").Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
