"""``proofmill-ray prover``: executes jobs of ``proofmill worker --cluster`` on the machines of a Ray cluster.

Requests come on standard input, replies go to standard output, one JSON object a line: those of service/job/src/message.rs.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from . import Error, InsecureSetupWarning, Malformed, Mismatch, Unsatisfied, __version__, circom, ray

__all__ = ["Session", "serve"]

LONGEST_MESSAGE = 1000


class Refused(Error):
    """A request that this program cannot fulfil."""


class Session:
    """What stays between requests: the workers with their slices of the last key."""

    def __init__(self, reply: Callable[[Mapping[str, Any]], None], **options: Any) -> None:
        """``options`` are those of ``ray.Prover``."""
        self.reply, self.options = reply, options
        self.digest = ""
        self.prover: ray.Prover | None = None
        self.phases: list[dict[str, Any]] = []
        self.began = time.monotonic()

    def answer(self, line: str) -> dict[str, Any]:
        """The reply to a request."""
        names: dict[str, str] = {}
        try:
            request = json.loads(line)
            if not isinstance(request, dict) or request.get("request") != "execute":
                raise Refused("request: expected one to execute a task")
            names = {request["outputs"]: "outputs", **{path: name for name, path in request["inputs"].items()}}
            self.execute(request, names)
        except Exception as error:
            return {"reply": "failed", "message": message_of(error, names), "transient": is_transient(error)}
        return {"reply": "finished", "phases": self.phases, "peak_memory": None}

    def execute(self, request: Mapping[str, Any], names: dict[str, str]) -> None:
        """Proves, and writes proof and public signals."""
        task, keys, inputs = request["task"], request["keys"], request["inputs"]
        if task["type"] != "prove":
            raise Refused(f"a job of type {task['type']} cannot be divided among machines")
        self.phases, self.began = [], time.monotonic()
        digest, program = task["key"], task.get("program")
        names[keys[digest]] = "key"
        if program is not None:
            names[keys[program]] = "program"
        if digest != self.digest:
            self.begin("divide key")
            self.close()
            self.prover, self.digest = ray.Prover(keys[digest], **self.options), digest
        if program is None:
            self.begin("read witness")
            witness = circom.Witness(inputs["witness"])
        else:
            self.begin("calculate witness")
            witness = circom.WitnessCalculator(keys[program]).calculate(Path(inputs["signals"]))
        self.begin("prove on the cluster")
        assert self.prover is not None
        try:
            proof = self.prover.prove(witness)
        except ray.Lost:
            # The next one starts workers anew.
            self.close()
            raise
        self.begin("write proof")
        folder = Path(request["outputs"])
        (folder / "proof").write_text(proof.to_json(), encoding="utf-8")
        (folder / "public").write_text(proof.public_json(), encoding="utf-8")
        self.end_phase()

    def begin(self, phase: str) -> None:
        """A phase begins, and the one before ends."""
        self.end_phase()
        self.phases.append({"name": phase, "seconds": 0.0})
        self.reply({"reply": "phase", "name": phase})

    def end_phase(self) -> None:
        now = time.monotonic()
        if self.phases:
            self.phases[-1]["seconds"] = now - self.began
        self.began = now

    def close(self) -> None:
        """Ends the workers."""
        if self.prover is not None:
            self.prover.close()
        self.digest, self.prover = "", None


def is_transient(error: Exception) -> bool:
    """Whether another attempt could succeed: the cluster is at fault, and not the input."""
    return not isinstance(error, (Refused, Unsatisfied, Malformed, Mismatch, ValueError, KeyError))


def message_of(error: Exception, names: Mapping[str, str]) -> str:
    """One line for the job's owner, with names in place of paths."""
    if not isinstance(error, (Error, OSError, ValueError)):
        # Its text could have secret values.
        print(f"error: {type(error).__name__} in a job", file=sys.stderr)
        return "the prover failed: its log says where"
    text = str(error)
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    return "".join(character if character.isprintable() else " " for character in text)[:LONGEST_MESSAGE]


def cpu() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def allows_insecure_setup() -> bool:
    """Whether the environment says so: the words for no are the command's."""
    return os.environ.get("PROOFMILL_ALLOW_INSECURE_SETUP", "").lower() not in ("", "n", "no", "f", "false", "off", "0")


def serve(requests: Iterable[str], replies: TextIO, shards: int, threads: int, **options: Any) -> None:
    """Answers requests until they end. ``options`` are those of ``ray.Prover``."""

    def reply(message: Mapping[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    if allows_insecure_setup():
        options["allow_insecure_setup"] = True
        warnings.simplefilter("ignore", InsecureSetupWarning)
    session = Session(reply, shards=shards, threads=threads, **options)
    reply({
        "reply": "ready", "version": __version__, "level": "ray", "cpu": f"{shards} workers, {cpu()}", "threads": shards * threads,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    })  # fmt: skip
    try:
        for line in requests:
            reply(session.answer(line))
    finally:
        session.close()
