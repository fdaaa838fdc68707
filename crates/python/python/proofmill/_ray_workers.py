"""Workers of a Ray cluster, and tasks that any of them can do: what ``proofmill.ray`` proves with."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, TypeVar

from . import Error, Mismatch, __version__
from .bench import needed

__all__ = ["Actor", "Interlude", "Lost", "Task", "Workers", "check_version"]

# How often workers are asked whether they are alive, and after how many seconds without an answer others get their tasks too.
PULSE_SECONDS, SILENT_SECONDS = 1.0, 5.0
# A task that is outstanding for this many times as long as the slowest that has ended is late.
LATE = 3.0
# How often Ray repeats a task itself, and how often it is given to a worker.
TASK_RETRIES, MOST_TRIES = 3, 8


class Lost(Error):
    """The workers are gone, or do not answer. Nothing is wrong with what was to be proven; nothing of the proof is kept."""


def check_version(head: str) -> None:
    """Raises Mismatch if this worker has another version than the head."""
    if head != __version__:
        raise Mismatch(f"proofmill {__version__} on {os.uname().nodename}, {head} on the head: install the same version")


@dataclass(eq=False)
class Task:
    """A call of a method of workers, without side effects."""

    # Tasks of a kind take about as long.
    kind: str
    method: str
    # Those in Ray's store are freed with the task.
    arguments: list[Any]
    # Workers that were asked and have not answered, and when they were asked.
    asked: dict[Any, tuple[int, float]] = field(default_factory=dict)
    tries: int = 0
    result: Any = None


@dataclass
class Actor:
    handle: Any
    # When it last answered, and what it was asked last, if it has not.
    seen: float
    pulse: Any = None
    pulse_at: float = 0.0
    # Why its last answer was none.
    problem: str = ""

    def is_silent(self) -> bool:
        return bool(self.problem) or (self.pulse is not None and time.monotonic() - self.pulse_at > SILENT_SECONDS)


class Interlude(Protocol):
    """Work of all workers together, of which one cannot be repeated alone: its tasks begin when it has ended, or without it."""

    # Objects of Ray that say that it has ended.
    signs: list[Any]
    tasks: list[Task]

    def settle(self, tasks: list[Task], slowest: dict[str, float]) -> bool:
        """Begins its tasks if it has ended. False if it is late or a worker is: then it is not waited for."""

    def abandon(self, tasks: list[Task]) -> None:
        """Begins its tasks without it."""


_Self = TypeVar("_Self", bound="Workers")


class Workers:
    """Actors of one class, which has a method ``alive``. Connects to the cluster of RAY_ADDRESS, or starts one on this machine, unless the
    program has called ``ray.init``."""

    def __init__(self, worker: type, arguments: tuple[Any, ...], count: int, threads: int, patience: float) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._ray = needed("ray")
        if not self._ray.is_initialized():
            self._ray.init(log_to_driver=False, logging_level="warning")
        options = {"num_cpus": threads, "max_restarts": -1, "max_task_retries": TASK_RETRIES, "scheduling_strategy": "SPREAD"}
        actor = self._ray.remote(**options, concurrency_groups={"pulse": 1, "exchange": 1})(worker)
        self._actors = [Actor(actor.remote(*arguments), time.monotonic()) for _ in range(count)]

    def _start(self, calls: list[tuple[Any, ...]]) -> None:
        """Calls ``ready`` of each worker, and waits. That may take long, and finding a place for a worker may not. Closes after an exception."""
        try:
            left = [actor.handle.ready.remote(*arguments) for actor, arguments in zip(self._actors, calls)]
            while left:
                done, left = self._ray.wait(left, timeout=self._patience)
                for ref in done:
                    self._get(ref)
                if not done:
                    pulses = [actor.handle.alive.options(concurrency_group="pulse").remote() for actor in self._actors]
                    missing = self._ray.wait(pulses, num_returns=len(pulses), timeout=SILENT_SECONDS)[1]
                    if missing:
                        raise Lost(f"{len(missing)} of {len(pulses)} workers did not start: {self._cluster()}")
        except BaseException:
            self.close()
            raise

    def _check_open(self) -> None:
        if not self._actors:
            raise ValueError("the prover is closed")

    def _give(self, task: Task, index: int) -> None:
        task.tries += 1
        ref = getattr(self._actors[index].handle, task.method).remote(*task.arguments)
        task.asked[ref] = index, time.monotonic()

    def _wait(self, tasks: list[Task], exchange: Interlude | None = None) -> None:
        """Waits until all tasks have results, and adds those of the exchange."""
        slowest: dict[str, float] = {}
        progress = time.monotonic()
        while (unfinished := [task for task in tasks if task.result is None]) or (exchange and exchange.signs):
            if exchange and exchange.signs:
                if not exchange.settle(tasks, slowest):
                    exchange.abandon(tasks)
                    exchange = None
                unfinished = [task for task in tasks if task.result is None]
            self._repeat(unfinished, tasks, slowest)
            running = {ref: task for task in unfinished for ref in task.asked}
            pulses = {actor.pulse: actor for actor in self._actors if actor.pulse is not None}
            signs = exchange.signs if exchange else []
            for ref in self._ray.wait([*running, *pulses, *signs], timeout=PULSE_SECONDS)[0]:
                now = time.monotonic()
                if actor := pulses.get(ref):
                    self._beat(actor, ref)
                    continue
                if ref in signs:
                    progress = now
                    continue
                task = running[ref]
                index, since = task.asked.pop(ref)
                try:
                    task.result = self._get(ref)
                except Lost as error:
                    if exchange and task in exchange.tasks:
                        exchange.abandon(tasks)
                        exchange = None
                    elif task.tries >= MOST_TRIES and not task.asked:
                        raise Lost(f"a task was lost {task.tries} times, most likely for want of memory; the last: {error}") from None
                    continue
                progress = now
                slowest[task.kind] = max(slowest.get(task.kind, 0.0), now - since)
            silent = time.monotonic() - max([progress, *(actor.seen for actor in self._actors)])
            if silent > self._patience:
                problem = next((f": {actor.problem}" for actor in self._actors if actor.problem), "")
                raise Lost(f"no worker has answered for {silent:.0f} s, {self._cluster()}{problem}")

    def _repeat(self, unfinished: list[Task], tasks: list[Task], slowest: dict[str, float]) -> None:
        """Asks workers for signs of life, and gives tasks that are late, or whose worker is silent, to workers that have nothing to do."""
        now = time.monotonic()
        for actor in self._actors:
            if actor.pulse is None and now - actor.pulse_at > PULSE_SECONDS:
                actor.pulse, actor.pulse_at = actor.handle.alive.options(concurrency_group="pulse").remote(), now
        busy = {index for task in tasks for index, _ in task.asked.values()}
        idle = [index for index, actor in enumerate(self._actors) if index not in busy and not actor.is_silent()]
        for task in unfinished:
            limit = LATE * slowest[task.kind] + PULSE_SECONDS if task.kind in slowest else float("inf")
            held = any(not self._actors[index].is_silent() and now - since < limit for index, since in task.asked.values())
            if idle and not held and task.tries < MOST_TRIES:
                self._give(task, idle.pop())

    def _beat(self, actor: Actor, ref: Any) -> None:
        actor.pulse, actor.problem = None, ""
        try:
            self._get(ref)
            actor.seen = time.monotonic()
        except Lost as error:
            actor.problem = str(error)

    def _get(self, ref: Any) -> Any:
        """A worker's answer, or its exception. Lost if there is none."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            if isinstance(error.cause, errors.RayError):
                # What it needs of another worker is lost.
                raise Lost(_last_line(error)) from error
            raise error.cause if isinstance(error.cause, (Error, OSError, ValueError, MemoryError)) else error from None
        except errors.RayError as error:
            raise Lost(_last_line(error)) from error

    def _cluster(self) -> str:
        nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
        return f"{nodes} nodes are alive, with {self._ray.available_resources().get('CPU', 0):g} free CPUs"

    def close(self) -> None:
        """Ends the workers. The connection to the cluster stays."""
        actors, self._actors = self._actors, []
        for actor in actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
