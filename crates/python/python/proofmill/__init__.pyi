from proofmill import (
    bench as bench,
    bls as bls,
    circom as circom,
    client as client,
    fflonk as fflonk,
    goldilocks as goldilocks,
    groth16 as groth16,
    hash as hash,
    merkle as merkle,
    msm as msm,
    plonk as plonk,
    ray as ray,
    sha256 as sha256,
    stark as stark,
)
from proofmill.client import Client as Client

__version__: str

class Error(Exception): ...
class Rejected(Error): ...
class Unsatisfied(Error): ...
class Malformed(Error): ...
class Mismatch(Error): ...
class InsecureSetup(Error): ...
class InsecureSetupWarning(UserWarning): ...

def levels() -> list[str]: ...

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
