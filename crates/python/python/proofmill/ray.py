"""One proof over many machines, with Ray.

    with proofmill.ray.Prover("circuit.zkey", shards=4, threads=16) as prover:
        proof = prover.prove("witness.wtns")

Each worker, an actor of Ray, has a slice of the key: ranges of its wires and of its domain. A Groth16 proof is a few sums of points over all wires
and all points of the domain. Workers sum their ranges and return 320 bytes. This process, the head, evaluates the quotient meanwhile, or
the constraints only, of which the workers then make the quotient together. It adds the sums, blinds them, and verifies the proof before it
returns it. For PLONK and fflonk, a slice has powers of tau, and the workers make the commitments; all else is the head's.
``StarkProver`` divides STARKs.

Sums are pure, so any worker may repeat any of them. Ray restarts a worker that was killed, and repeats its sums; what is late is also
given to a worker that has nothing to do, and the first result counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from . import InsecureSetup, Malformed, Mismatch, __version__, circom, fflonk, groth16, msm, plonk
from ._ray_stark import StarkProver
from ._ray_workers import LATE, SILENT_SECONDS, Lost, Task, Workers, check_version

__all__ = ["Lost", "Part", "Prover", "StarkProver", "copy_slice", "parts_of"]

Range = tuple[int, int]
# Bytes that are hashed or copied at once.
PIECE = 8 << 20
CONNECT_SECONDS = 30.0
# The ranges of powers of tau that a worker has: with one, polynomials shorter than the longest would leave some without work.
POWER_RANGES = 8
# From so many workers on, they evaluate the quotient: docs/scale.md.
DIVIDED_FROM = 8


@dataclass(frozen=True)
class Part:
    """A slice of a key: wires and points of the domain from the first to before the second, the ranges of the file's bytes that sums
    over them read, and the SHA-256 of these bytes. If the quotient is divided, also its rows, which are those points, and its columns."""

    wires: Range
    domain: Range
    ranges: tuple[Range, ...]
    digest: str
    rows: Range = (0, 0)
    columns: Range = (0, 0)
    # Of a key of PLONK or fflonk: powers of tau, ascending.
    powers: tuple[Range, ...] = ()

    def of(self, kind: str) -> Range:
        """The values of the witness or of the quotient that this part sums."""
        return self.wires if kind == "wires" else self.domain


def parts_of(path: str | os.PathLike[str], count: int, divided: bool = False) -> list[Part]:
    """Divides a key, a file, into slices of equal size; ``divided`` for a quotient that is divided, too. Reads all of it, for the digests.

    Raises OSError, Malformed, and ValueError for no parts, or more than wires or points.
    """
    return parts_of_key(path, *open_key(path), count, divided)


def parts_of_key(path: str | os.PathLike[str], system: Any, key: Any, count: int, divided: bool) -> list[Part]:
    """``parts_of`` for a key that is open."""
    if system is not groth16:
        return power_parts(path, system.powers(key), count)
    wires, domain = groth16.shape(key)
    most = min(wires, domain if not divided else most_divided(domain))
    if not 1 <= count <= most:
        why = " with a divided quotient" if divided else ""
        raise ValueError(f"shards: expected 1 to {most} for {os.fspath(path)}{why}, found {count}")

    def shares(total: int, unit: int = 1) -> list[Range]:
        bounds = [total // unit * index // count * unit for index in range(count + 1)]
        return list(zip(bounds, bounds[1:]))

    points, rows, columns = shares(domain), [Part.rows] * count, [Part.columns] * count
    if divided:
        steps = groth16.DividedQuotient(domain)
        rows, columns = shares(steps.rows, steps.LANES), shares(steps.columns, steps.LANES)
        points = [(start * steps.columns, end * steps.columns) for start, end in rows]
    with open(path, "rb") as file:
        parts = []
        for of_wires, of_domain, of_rows, of_columns in zip(shares(wires), points, rows, columns):
            ranges = tuple(groth16.slice(key, of_wires, of_domain))
            parts.append(Part(of_wires, of_domain, ranges, _digest(file.fileno(), ranges), of_rows, of_columns))
    return parts


def open_key(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """A key, and the module of its proof system."""
    problem: Malformed | None = None
    for system in (groth16, plonk, fflonk):
        try:
            return system, system.ProvingKey(path)
        except Malformed as error:
            problem = problem or error
    assert problem is not None
    raise problem


def power_parts(path: str | os.PathLike[str], bytes_of_powers: Range, count: int) -> list[Part]:
    """Divides the powers of tau of a key."""
    begin, total = bytes_of_powers[0], (bytes_of_powers[1] - bytes_of_powers[0]) // plonk.Powers.BYTES
    if not 1 <= count <= total // POWER_RANGES:
        raise ValueError(f"shards: expected 1 to {total // POWER_RANGES} for {os.fspath(path)}, found {count}")
    bounds = [total * index // (count * POWER_RANGES) for index in range(count * POWER_RANGES + 1)]
    all_ranges = list(zip(bounds, bounds[1:]))
    parts = []
    with open(path, "rb") as file:
        for index in range(count):
            powers = tuple(all_ranges[index::count])
            ranges = tuple((begin + plonk.Powers.BYTES * start, begin + plonk.Powers.BYTES * end) for start, end in powers)
            parts.append(Part((0, 0), (0, 0), ranges, _digest(file.fileno(), ranges), powers=powers))
    return parts


def most_divided(domain: int) -> int:
    """The most workers that can divide a quotient."""
    return int(groth16.DividedQuotient(domain).columns) // groth16.DividedQuotient.LANES if domain >= 64 else 1


def _digest(file: int, ranges: tuple[Range, ...]) -> str:
    digest = hashlib.sha256()
    for start, end in ranges:
        # Mapped, so that nothing is copied. Maps begin at pages.
        first = start - start % mmap.ALLOCATIONGRANULARITY
        with mmap.mmap(file, end - first, prot=mmap.PROT_READ, offset=first) as bytes_of_range:
            for offset in range(start - first, end - first, PIECE):
                with memoryview(bytes_of_range) as view, view[offset : min(offset + PIECE, end - first)] as piece:
                    digest.update(piece)
    return digest.hexdigest()


def copy_slice(source: str, part: Part, length: int, file: int) -> None:
    """Copies a slice from a path, or from a URL by HTTP, to a file of the key's length, whose other bytes stay holes.

    A store of objects is a URL that is signed in advance; the server must support ranges.

    Raises OSError, and Mismatch if the bytes do not have the slice's digest.
    """
    os.truncate(file, length)
    for start, end in part.ranges:
        position = start
        for piece in _pieces(source, start, end):
            view = memoryview(piece)
            while view:
                count = os.pwrite(file, view, position)
                view, position = view[count:], position + count
        if position != end:
            raise OSError(f"{_place(source)}: expected bytes {start} to {end}, found {position - start} of them")
    _check(source, part, file)


def _pieces(source: str, start: int, end: int) -> Iterator[bytes]:
    if not _is_url(source):
        with open(source, "rb") as file:
            file.seek(start)
            while start < end and (piece := file.read(min(PIECE, end - start))):
                start += len(piece)
                yield piece
        return
    request = urllib.request.Request(source, headers={"Range": f"bytes={start}-{end - 1}"})
    try:
        with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as response:
            if response.status != 206:
                raise OSError(f"{_place(source)}: the server does not support ranges: status {response.status}")
            while start < end and (piece := response.read(min(PIECE, end - start))):
                start += len(piece)
                yield piece
    except urllib.error.URLError as error:
        # Its text may have the URL, and with it a signature.
        reason = f"status {error.code}" if isinstance(error, urllib.error.HTTPError) else error.reason
        raise OSError(f"{_place(source)}: {reason}") from None


def _is_url(source: str) -> bool:
    return source.startswith(("https://", "http://"))


def _place(source: str) -> str:
    """A source in messages, without the signature of a URL."""
    return urllib.parse.urlsplit(source)._replace(query="", fragment="").geturl() if _is_url(source) else source


def _check(source: str, part: Part, file: int) -> None:
    length = os.fstat(file).st_size
    found = _digest(file, part.ranges) if part.ranges[-1][1] <= length else f"a file of {length} bytes"
    if found != part.digest:
        node = os.uname().nodename
        raise Mismatch(f"{_place(source)} on {node}: not the key of the head: expected SHA-256 {part.digest} of a slice, found {found}")


class Worker:
    """Sums slices of a key. An actor of Ray, or an object of this process."""

    def __init__(self, version: str, source: str, folder: str | None, length: int, threads: int) -> None:
        # What can fail is in `ready`, whose exceptions reach the head.
        self.version, self.source, self.folder, self.length, self.threads = version, source, folder, length, threads
        self.file = -1
        self.checked: set[str] = set()

    def ready(self, part: Part) -> None:
        """Has the bytes of this part, with their digest."""
        check_version(self.version)
        if part.digest in self.checked:
            return
        if self.file < 0:
            self.file = self.open()
        if self.folder is None:
            _check(self.source, part, self.file)
        else:
            copy_slice(self.source, part, self.length, self.file)
        if part.powers:
            self.powers = {part.digest: plonk.Powers(b"".join(os.pread(self.file, end - start, start) for start, end in part.ranges))}
            self.checked.clear()
        else:
            self.key = groth16.ProvingKey(f"/proc/self/fd/{self.file}")
        self.checked.add(part.digest)

    def open(self) -> int:
        try:
            # A copy has no name: it ends with the process.
            return os.open(self.source, os.O_RDONLY) if self.folder is None else os.open(self.folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror} on {os.uname().nodename}", error.filename) from None

    def sum(self, kind: str, part: Part, *values: Any) -> bytes:
        """The sums of a part with these values, encoded. Several are pieces of rows of the quotient; of powers, there are values for the first."""
        self.ready(part)
        if kind == "powers":
            return self.powers[part.digest].sum(0, values[0], threads=self.threads).tobytes()
        sum_of = groth16.Sums.of_wires if kind == "wires" else groth16.Sums.of_quotient
        return sum_of(self.key, part.of(kind)[0], joined(values).reshape(-1, 4), threads=self.threads).to_bytes()

    def step(self, step: str, points: int, first: int, cuts: list[Range], *values: Any) -> list[Any]:
        """A step of ``groth16.DividedQuotient``: the rows of its results for each worker, and at last nothing, which says that it has ended."""
        result = getattr(groth16.DividedQuotient(points), step)(first, joined(values), threads=self.threads)
        return [*(numpy.ascontiguousarray(result[..., start:end, :, :]) for start, end in cuts), None]

    def alive(self) -> None:
        """Answers also during a sum."""


def joined(pieces: Sequence[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
    """Pieces of the same rows, side by side."""
    return pieces[0] if len(pieces) == 1 else numpy.concatenate(pieces, axis=-2)


@dataclass(eq=False)
class _Exchange:
    """A quotient that the workers evaluate together."""

    prover: Prover
    witness: circom.Witness
    # All objects that they exchange, and those of the last steps that say that these have ended.
    refs: list[Any]
    signs: list[Any]
    # The sums of its values.
    tasks: list[Task]
    # When nothing else is left to do.
    waiting_since: float | None = None

    def settle(self, tasks: list[Task], slowest: dict[str, float]) -> bool:
        """Asks for the sums once the quotient is there."""
        prover, now = self.prover, time.monotonic()
        if self.signs:
            self.signs = prover._ray.wait(self.signs, num_returns=len(self.signs), timeout=0)[1]
        if not self.signs:
            for index, task in enumerate(self.tasks):
                prover._give(task, index)
            tasks += self.tasks
            return True
        if self.waiting_since is None and all(task.result is not None for task in tasks):
            self.waiting_since = now
        limit = SILENT_SECONDS + LATE * slowest.get("wires", 0.0)
        is_late = self.waiting_since is not None and now - self.waiting_since > limit
        return not is_late and not any(actor.is_silent() for actor in prover._actors)

    def abandon(self, tasks: list[Task]) -> None:
        """Evaluates the quotient here, for the sums that are not made."""
        prover = self.prover
        for ref in self.refs:
            # Steps that wait for a lost object would wait for ever, and those of the next proof behind them.
            with contextlib.suppress(Exception):
                prover._ray.cancel(ref)
        values = groth16.quotient(prover._key, self.witness)
        for index, (part, task) in enumerate(zip(prover._parts, self.tasks)):
            if task.result is None:
                first, end = part.domain
                task.arguments[2:] = [prover._ray.put(values[first:end])]
                prover._give(task, index)
        values.fill(0)
        tasks += [task for task in self.tasks if task not in tasks]


def _sum_task(kind: str, part: Part, values: Sequence[Any]) -> Task:
    return Task(kind, "sum", [kind, part, *values])


class Prover(Workers):
    """Proves with the workers of a Ray cluster. Connects to the cluster of RAY_ADDRESS, or starts one on this machine, unless the program
    has called ``ray.init``.

    key: the path of a ``.zkey`` file, or of a key of PLONK's wider arithmetisations, of which this process does not read the workers' points.
    shards: the number of workers; each reads its share of the key. threads: of each worker, which it reserves as Ray's CPUs. source: the path
    of the key on the workers, by default as here; or an http(s) URL, such as one that an object store signed. folder: one on the workers, in
    which each keeps a copy of its slice, which a URL needs; a path without a folder is mapped where it is. patience: for how many seconds no
    worker may answer. divided: whether the workers evaluate Groth16's quotient together, instead of the head; by default, if there are at
    least eight. allow_insecure_setup: as for ``ProvingKey.prove``.

    The slices are read and checked before the constructor returns. Raises Lost if the cluster cannot start the workers, Mismatch for
    another key on a worker, and what ``ProvingKey`` raises. May be used by several threads, one proof at a time.
    """

    def __init__(
        self,
        key: str | os.PathLike[str],
        shards: int,
        *,
        threads: int = 1,
        source: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        patience: float = 60.0,
        divided: bool | None = None,
        allow_insecure_setup: bool = False,
    ) -> None:
        path = os.path.abspath(key)
        source = path if source is None else os.fspath(source)
        if _is_url(source) and folder is None:
            raise ValueError("folder: expected one for the slices, because the source is a URL")
        self._system, self._key = open_key(path)
        if divided and self._system is not groth16:
            raise ValueError(f"divided: only the quotient of a Groth16 key can be divided, {path} is none")
        if (reason := self._key.verifying_key.insecurity) and not allow_insecure_setup:
            raise InsecureSetup(f"{path}: anyone can forge proofs for this key: {reason}")
        if divided is None and self._system is groth16:
            divided = DIVIDED_FROM <= shards <= most_divided(groth16.shape(self._key)[1])
        self._parts = parts_of_key(path, self._system, self._key, shards, bool(divided))
        self._divided = bool(divided) and shards > 1
        self._insecure = allow_insecure_setup
        where = (__version__, source, None if folder is None else os.fspath(folder), os.stat(path).st_size, threads)
        super().__init__(Worker, where, len(self._parts), threads, patience)
        self._start([(part,) for part in self._parts])

    def prove(self, witness: str | os.PathLike[str] | bytes | circom.Witness) -> Any:
        """Proves that a witness satisfies the circuit. The proof is verified before it is returned.

        Raises Unsatisfied, Mismatch, InsecureSetup, Malformed and OSError as ``ProvingKey.prove``, and Lost if no worker answers, or if
        a sum was lost too often. The proof is of the key's proof system: ``groth16.Proof``, ``plonk.Proof`` or ``fflonk.Proof``.
        """
        witness = witness if isinstance(witness, circom.Witness) else circom.Witness(witness)
        if self._system is not groth16:
            with self._lock:
                self._check_open()
                return self._system.prove_with_commitments(self._key, witness, self._commit, allow_insecure_setup=self._insecure)
        return groth16.assemble(self._key, witness, self._sums(witness), allow_insecure_setup=self._insecure)

    def _commit(self, values: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        """The sum of coefficients times the powers of tau, by the workers. Wipes the coefficients."""
        tasks = []
        for index, part in enumerate(self._parts):
            pieces = [values[start:end] for start, end in part.powers if start < len(values)]
            if pieces:
                tasks.append(_sum_task("powers", part, [self._ray.put(numpy.concatenate(pieces))]))
                self._give(tasks[-1], index)
        values.fill(0)
        try:
            self._wait(tasks)
            points = numpy.frombuffer(b"".join(task.result or b"" for task in tasks), numpy.uint64).reshape(-1, 8)
        finally:
            for task in tasks:
                task.arguments = []
        # Their sum.
        return msm.bn254_g1(points, numpy.array([[1, 0, 0, 0]] * len(points), numpy.uint64), threads=1)

    def _sums(self, witness: circom.Witness) -> groth16.Sums:
        with self._lock:
            self._check_open()
            wires, _ = groth16.shape(self._key)
            values = witness.to_numpy()
            if len(values) != wires:
                values.fill(0)
                raise Mismatch(f"the witness has {len(values)} values, the circuit of the proving key has {wires} wires")
            tasks = self._ask("wires", values)
            # The head's own work, while the workers sum.
            exchange = self._exchange(witness) if self._divided else None
            if exchange is None:
                tasks += self._ask("quotient", groth16.quotient(self._key, witness))
            try:
                self._wait(tasks, exchange)
                sums = [groth16.Sums.from_bytes(task.result) for task in tasks if task.result is not None]
            finally:
                # Frees the values in the store; workers that are late keep theirs until they end.
                for task in tasks:
                    task.arguments = []
        total = sums[0]
        for part in sums[1:]:
            total += part
        return total

    def _ask(self, kind: str, values: numpy.ndarray[Any, Any]) -> list[Task]:
        """Stores each part's values, and asks its own worker for their sum. Wipes the values here."""
        tasks = []
        for index, part in enumerate(self._parts):
            first, end = part.of(kind)
            tasks.append(_sum_task(kind, part, [self._ray.put(values[first:end])]))
            self._give(tasks[-1], index)
        values.fill(0)
        return tasks

    def _exchange(self, witness: circom.Witness) -> _Exchange:
        """Asks the workers for all steps of the quotient. They wait for what others send, and sum meanwhile."""
        parts, points = self._parts, groth16.shape(self._key)[1]
        rows, columns = [part.rows for part in parts], [part.columns for part in parts]
        values = groth16.constraints(self._key, witness)
        # What each worker has received: a list of pieces.
        held = [[self._ray.put(numpy.ascontiguousarray(values[:, :, first:end]))] for first, end in columns]
        values.fill(0)
        refs, signs = [pieces[0] for pieces in held], []
        for step, mine, cuts in (("interpolate", columns, rows), ("extend", rows, columns), ("finish", columns, rows)):
            options = {"concurrency_group": "exchange", "num_returns": len(parts) + 1}
            sent = [
                actor.handle.step.options(**options).remote(step, points, first, cuts, *pieces)
                for actor, (first, _), pieces in zip(self._actors, mine, held)
            ]
            signs = [results.pop() for results in sent]
            refs += [ref for results in sent for ref in results]
            held = [list(pieces) for pieces in zip(*sent)]
        tasks = [_sum_task("quotient", part, pieces) for part, pieces in zip(parts, held)]
        return _Exchange(self, witness, refs + signs, signs, tasks)

