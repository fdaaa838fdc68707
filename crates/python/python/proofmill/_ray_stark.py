"""One STARK over many machines: cosets of the trace's extension on the workers of a Ray cluster."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from . import __version__, stark
from ._ray_workers import Task, Workers, check_version
from .bench import needed

__all__ = ["StarkProver", "StarkWorker", "Statement"]


@dataclass(frozen=True)
class Statement:
    """What is proven of a trace, and a name for both."""

    name: str
    public: tuple[int, ...]
    hash: str
    security: int


class StarkWorker:
    """Has cosets of the extension of the last trace. An actor of Ray."""

    def __init__(self, version: str, air: str, threads: int) -> None:
        # What can fail is in `ready`, whose exceptions reach the head.
        self.version, self.text, self.threads = version, air, threads
        self.air: stark.Air | None = None
        self.cosets: dict[str, stark.Cosets] = {}

    def ready(self) -> None:
        check_version(self.version)
        self.air = self.air or stark.Air(self.text.encode())

    def answer(self, statement: Statement, questions: list[tuple[int, bytes]], pieces: list[Any], first: int) -> list[bytes]:
        """The answers to questions of ``stark.prove_with_cosets`` about the trace of which these are the pieces."""
        if statement.name not in self.cosets:
            self.cosets.clear()
            self.ready()
            assert self.air is not None
            trace, public = whole(pieces, first), statement.public
            cosets = stark.Cosets(self.air, trace, public, hash=statement.hash, security=statement.security, threads=self.threads)
            self.cosets[statement.name] = cosets
        cosets = self.cosets[statement.name]
        return [cosets.answer(coset, question, threads=self.threads) for coset, question in questions]

    def forget(self) -> None:
        """Frees the memory of the last trace."""
        self.cosets.clear()

    def alive(self) -> None:
        """Answers also during a question."""


def whole(pieces: list[Any], first: int) -> numpy.ndarray[Any, Any]:
    """The array of which the pieces are in Ray's store. Workers begin with different ones, so that most come from each other."""
    ray, order = needed("ray"), [*range(first, len(pieces)), *range(first)]
    rows = dict(zip(order, (ray.get(pieces[index]) for index in order)))
    return numpy.concatenate([rows[index] for index in range(len(pieces))]) if len(pieces) > 1 else rows[0]


class StarkProver(Workers):
    """Proves STARKs with the workers of a Ray cluster, which is found as for ``Prover``.

    The extension of a trace consists of cosets. Each worker has the whole trace, extends and hashes its cosets, and evaluates the quotient on
    them; this process, the head, commits to the quotient and makes the rest of the proof, which is the same as that of ``Air.prove``.

    air: a path, bytes or a ``stark.Air``. shards: the number of workers, at most as many as cosets, ``stark.Cosets.COUNT``. threads: of each
    worker, which it reserves as Ray's CPUs. hash and security: as for ``Air.prove``; there is no zero knowledge. patience: as for ``Prover``.

    Raises Lost if the cluster cannot start the workers, and what ``stark.Air`` raises. May be used by several threads, one proof at a time.
    """

    def __init__(
        self,
        air: str | os.PathLike[str] | bytes | stark.Air,
        shards: int,
        *,
        threads: int = 1,
        hash: str = "keccak",
        security: int = 100,
        patience: float = 60.0,
    ) -> None:
        self._air = air if isinstance(air, stark.Air) else stark.Air(air)
        if not 1 <= shards <= stark.Cosets.COUNT:
            raise ValueError(f"shards: expected 1 to {stark.Cosets.COUNT}, the cosets of an extended trace, found {shards}")
        self._hash, self._security = hash, security
        super().__init__(StarkWorker, (__version__, self._air.to_json(), threads), shards, threads, patience)
        self._start([()] * shards)

    def prove(self, trace: numpy.ndarray[Any, Any], public: Sequence[int]) -> stark.Proof:
        """Proves that a trace satisfies the constraints: arguments and exceptions are those of ``Air.prove``. Raises Lost, too, as
        ``Prover.prove``."""
        with self._lock:
            self._check_open()
            statement = Statement(secrets.token_hex(8), tuple(public), self._hash, self._security)
            pieces: list[Any] = []

            def ask(questions: list[tuple[int, bytes]]) -> list[bytes]:
                if not pieces:
                    pieces.extend(self._ray.put(rows) for rows in numpy.array_split(trace, len(self._actors)))
                return self._ask(statement, pieces, questions)

            try:
                return stark.prove_with_cosets(self._air, trace, public, ask, hash=self._hash, security=self._security)
            finally:
                for actor in self._actors:
                    actor.handle.forget.options(max_task_retries=0).remote()

    def _ask(self, statement: Statement, pieces: list[Any], questions: list[tuple[int, bytes]]) -> list[bytes]:
        """The answers, each by the worker that has the coset."""
        tasks: dict[int, Task] = {}
        for question in questions:
            worker = question[0] % len(self._actors)
            task = tasks.setdefault(worker, Task("answer", "answer", [statement, [], pieces, worker]))
            task.arguments[1].append(question)
        for worker, task in tasks.items():
            self._give(task, worker)
        answers: dict[tuple[int, bytes], bytes] = {}
        try:
            self._wait(list(tasks.values()))
            for task in tasks.values():
                answers.update(zip(task.arguments[1], task.result))
        finally:
            for task in tasks.values():
                task.arguments = []
        return [answers[question] for question in questions]
