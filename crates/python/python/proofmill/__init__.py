"""Zero-knowledge proofs and their mathematics: keys and proofs of circom's circuits, STARKs, trees, signatures, kernels on NumPy arrays.

    import proofmill as pm

    key = pm.groth16.ProvingKey("circuit.zkey")
    proof = key.prove("witness.wtns", threads=8)
    proof.verify()
"""

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
    "Error",
    "InsecureSetup",
    "InsecureSetupWarning",
    "Malformed",
    "Mismatch",
    "Rejected",
    "Unsatisfied",
    "__version__",
    "bls",
    "circom",
    "fflonk",
    "goldilocks",
    "groth16",
    "hash",
    "levels",
    "merkle",
    "msm",
    "plonk",
    "sha256",
    "stark",
]
