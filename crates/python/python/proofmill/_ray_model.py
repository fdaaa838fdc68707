"""What a proof over many machines would take: the model of docs/scale.md."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from . import Error, bench, levels

__all__ = ["LARGEST", "Costs", "Estimate", "Machine", "Shape", "choices", "cores_here", "costs_of", "estimate"]

# Points and scalars in files and on the wire.
G1_BYTES, G2_BYTES, SCALAR_BYTES = 64, 128, 32
# Of A w and B w, the transforms' copy C, and the values that are read: docs/groth16.md.
QUOTIENT_BYTES = 4 * SCALAR_BYTES
# A sum's scratch for each point: coordinates and digits.
SCRATCH_BYTES = {"g1": 100, "g2": 170}
TRANSFORMS = 6
# What the nodes send each other of a divided quotient: of three vectors twice, of one once.
EXCHANGED_VECTORS = 7
# What else the head does, as a share of its sums: the constraints are evaluated, the proof is assembled and verified.
REST = 0.04
# Two calls of each worker and the verification.
CALL_SECONDS = 0.01
# The odd points of the domain need a root of unity of twice its order; the field has those of order 2^28.
LARGEST = 27


@dataclass(frozen=True)
class Shape:
    """A key: wires, and points of the domain, a power of two."""

    wires: int
    domain: int

    @property
    def key_bytes(self) -> int:
        """Points A, B1, B2, C and H; about, since public signals have no C. Matrices are on the head only."""
        return self.wires * (3 * G1_BYTES + G2_BYTES) + self.domain * G1_BYTES


@dataclass(frozen=True)
class Costs:
    """Seconds of one core: a point of a sum in G1 and in G2, and a point of a transform for each of its layers."""

    g1: float
    g2: float
    layer: float


@dataclass(frozen=True)
class Machine:
    """A node. Shares say how much of its cores' speed sums and transforms reach on all cores together."""

    cores: int
    link_bytes: float
    price: float | None = None
    sums_share: float = 0.85
    transforms_share: float = 0.5


@dataclass(frozen=True)
class Estimate:
    """A proof with this many nodes, whose workers evaluate the quotient if it is divided: seconds, bytes of memory of the head and of other
    nodes, bytes that all nodes send, and dollars."""

    nodes: int
    divided: bool
    seconds: float
    head_bytes: int
    node_bytes: int
    wire_bytes: int
    dollars: float | None


def costs_of(results: bench.Results) -> Costs:
    """The costs that the bench measured: the fastest level of this machine on one thread, at the largest size.

    Raises Error if something is missing.
    """

    def row(family: str, benchmark: str) -> tuple[int, float]:
        rows = results.select(family=family, benchmark=benchmark, threads=1, implementation=levels())
        found = [(int(row["size"]), float(row["median"])) for row in rows if row["size"] and row["median"]]
        if not found:
            wanted = "msm/bn254-g1 msm/bn254-g2 ntt/bn254-fr"
            raise Error(f"there is no result of {family}/{benchmark} on one thread: `proofmill bench run {wanted} --threads 1` measures it")
        largest = max(size for size, _ in found)
        return largest, min(median for size, median in found if size == largest)

    (size, g1), (size_2, g2), (points, transform) = row("msm", "bn254-g1"), row("msm", "bn254-g2"), row("ntt", "bn254-fr")
    return Costs(g1 / size, g2 / size_2, transform / (points * math.log2(points)))


def estimate(shape: Shape, costs: Costs, machine: Machine, nodes: int, divided: bool = False) -> Estimate:
    """The first node is the head, which has a share of the sums, too. With one node nothing is sent.

    While the workers sum their wires, the head evaluates the quotient; then its values are sent and summed. If it is divided, the head
    sends the factors of the constraints instead, and the nodes send each other their parts of three vectors twice, and of one vector
    once, while they sum.
    """
    away = (nodes - 1) / nodes
    summing, transforming = machine.cores * machine.sums_share, machine.cores * machine.transforms_share
    of_wires = shape.wires * (3 * costs.g1 + costs.g2)
    of_quotient = shape.domain * costs.g1
    transforms = TRANSFORMS * shape.domain * math.log2(shape.domain) * costs.layer / transforming
    rest = REST * (of_wires + of_quotient) / summing
    sent_wires, sent_quotient = SCALAR_BYTES * shape.wires * away, SCALAR_BYTES * shape.domain * away
    wires = of_wires / nodes / summing
    if divided:
        transforms /= nodes
        sent_quotient *= 2
        exchanged = EXCHANGED_VECTORS * SCALAR_BYTES * shape.domain * away
        sending = (sent_wires + sent_quotient + exchanged / nodes) / machine.link_bytes
        seconds = max(wires + rest + transforms, sending + rest + transforms)
    else:
        exchanged = 0.0
        waiting = sent_wires / machine.link_bytes + wires if nodes > 1 else 0.0
        seconds = max(wires + rest + transforms, waiting) + sent_quotient / machine.link_bytes
    seconds += of_quotient / nodes / summing + CALL_SECONDS
    values = SCALAR_BYTES * (shape.wires + shape.domain)
    scratch = max(shape.wires * SCRATCH_BYTES["g2"], shape.domain * SCRATCH_BYTES["g1"])
    share = (shape.key_bytes + 2 * values + scratch + (2 * EXCHANGED_VECTORS * SCALAR_BYTES * shape.domain if divided else 0)) // nodes
    head = share + QUOTIENT_BYTES * shape.domain + (values if nodes > 1 else 0) + SCALAR_BYTES * shape.wires
    dollars = None if machine.price is None else nodes * machine.price * seconds / 3600
    return Estimate(nodes, divided, seconds, head, share, round(sent_wires + sent_quotient + exchanged), dollars)


def choices(most: int) -> Sequence[int]:
    """The numbers of nodes that are compared: powers of two, and the most."""
    return sorted({1 << power for power in range(most.bit_length())} | {most})


def cores_here() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
