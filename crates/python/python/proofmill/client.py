"""A client of ``proofmill serve``: it submits jobs, waits for them, and fetches their results. It needs only the standard library.

    client = proofmill.Client()                     # the server of this machine
    client.add_key("circuit.zkey", name="circuit")
    job = client.submit("circuit", witness="witness.wtns")
    proof = proofmill.groth16.Proof.from_json(*job.result(timeout=30))
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from . import _places
from ._http import TEMPORARY, Body, File, Refused, Service, ServiceError, Unreachable, file_piece, refusal

__all__ = [
    "Client",
    "Job",
    "JobCancelled",
    "JobError",
    "JobExpired",
    "JobFailed",
    "JobLost",
    "Key",
    "Refused",
    "Result",
    "ServiceError",
    "Unreachable",
]

# How long one request waits for a job; what lies between usually allows that.
WAIT_SECONDS = 30
# Between two looks at a job: a server that drains answers at once.
LOOK_AGAIN_SECONDS = 0.1
UNFINISHED = ("queued", "running")
# The server's limits of a batch: jobs, bytes, and bytes of one of its jobs.
MOST_BATCH_JOBS, MOST_BATCH_BYTES, MOST_JSON_BYTES = 1000, 16 << 20, 1 << 20

# Inputs that are no JSON: a batch cannot have them.
BINARY = frozenset(["witness", "trace"])
# Jobs by their inputs: type, keys and options that are necessary, those that are possible.
TYPES: dict[frozenset[str], tuple[str, frozenset[str], frozenset[str]]] = {
    frozenset(["witness"]): ("prove", frozenset(["key"]), frozenset()),
    frozenset(["signals"]): ("prove", frozenset(["key", "program"]), frozenset()),
    frozenset(["trace", "public"]): ("prove-stark", frozenset(["key"]), frozenset(["hash", "bits"])),
    frozenset(["inner"]): ("aggregate", frozenset(["key", "air"]), frozenset(["bits"])),
    frozenset(["proof", "public"]): ("verify", frozenset(["key"]), frozenset()),
    frozenset(["sets"]): ("verify-bls", frozenset(), frozenset()),
}
INPUTS: frozenset[str] = frozenset().union(*TYPES)
OPTIONS: frozenset[str] = frozenset().union(*(necessary | possible for _, necessary, possible in TYPES.values()))
OTHERS = frozenset(["priority", "expires", "timeout", "attempts", "idempotency_key"])


class JobError(ServiceError):
    """A job ended without a result. ``job`` is the job; the subclasses say how it ended."""

    def __init__(self, message: str, job: Job | None = None) -> None:
        super().__init__(message)
        self.job = job


class JobFailed(JobError):
    """The input is wrong: an unsatisfied circuit, a malformed file, a proof that is not valid. The job would always fail."""


class JobLost(JobError):
    """All attempts were lost: the prover crashed, ran out of time or memory, or its machine was lost. ``job.retry()`` queues it again."""


class JobCancelled(JobError):
    """The job was cancelled."""


class JobExpired(JobError):
    """The job waited for longer than ``expires``."""


ENDS = {"failed": JobFailed, "dead": JobLost, "cancelled": JobCancelled, "expired": JobExpired}


class Result(NamedTuple):
    """What a job yields.

    ``proof`` is a ``str`` with snarkjs's JSON, the ``bytes`` of a STARK, or None for verifications; ``public`` are the public signals, if
    there are any. ``proofmill.groth16.Proof.from_json(*result)`` and ``proofmill.stark.Proof(result.proof)`` make proofs of them.
    """

    proof: Any
    public: Any


@dataclass(frozen=True)
class Key:
    """A key that the service has: ``kind`` is groth16, plonk, fflonk, verification, program or air; ``facts`` has all that is known."""

    digest: str
    name: str | None
    bytes: int
    kind: str
    facts: Mapping[str, Any]
    created_at: int


class Client:
    """A service and a token.

    Without ``url``, it is the server that PROOFMILL_SERVER names or that has run last on this machine with the usual data folder
    (PROOFMILL_DATA names another). Without ``token``, it is PROOFMILL_TOKEN, or the administrator's of that folder. ``ca_cert`` (or
    PROOFMILL_CA_CERT) is a file with the certificate of the authority that signed the server's, in PEM. A token is not sent in plain text
    beyond this machine, unless ``insecure_http`` is true.

    Requests whose answers were lost, and those that the service refuses for the moment (429 and 503, after the time that it says), are
    tried again for ``retry_for`` seconds. Threads may share a client. It keeps a few connections for the next requests; ``close``, or the
    end of a ``with`` block, closes them.

    Raises FileNotFoundError if there is neither an address nor a token.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        ca_cert: str | os.PathLike[str] | None = None,
        insecure_http: bool = False,
        retry_for: float = 30.0,
    ) -> None:
        url = url or os.environ.get("PROOFMILL_SERVER") or None
        token = token or os.environ.get("PROOFMILL_TOKEN") or None
        if url is None or token is None:
            url, token = of_data_folder(url, token)
        self._service = Service(url, token, ca_cert or os.environ.get("PROOFMILL_CA_CERT") or None, insecure_http, retry_for)

    def __repr__(self) -> str:
        return f"<proofmill.Client of {self._service.url}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. Client and jobs can still be used; each further request has a connection of its own."""
        self._service.close()

    def submit(
        self,
        key: str | Key | None = None,
        *,
        witness: Any = None,
        signals: Any = None,
        program: str | Key | None = None,
        proof: Any = None,
        public: Any = None,
        trace: Any = None,
        inner: Any = None,
        air: str | Key | None = None,
        sets: Any = None,
        hash: str | None = None,
        bits: int | None = None,
        priority: int = 0,
        expires: float | None = None,
        timeout: float | None = None,
        attempts: int | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Submits a job, and returns it once the service has stored it. The inputs say what is done with the key:

        * ``witness``: a proof of Groth16, PLONK or fflonk;
        * ``signals`` and ``program``, the key that is the circuit's WASM or graph: the same, from the circuit's inputs;
        * ``trace`` and ``public``: a STARK of the AIR ``key``, with ``hash`` and ``bits`` of security;
        * ``proof`` and ``public``: a verification;
        * ``inner`` and ``air``: one proof for several STARKs, which are pairs of proof and public values;
        * ``sets``, without a key: a verification of BLS signatures, which are those of ``proofmill.bls.verify_batch``.

        A key is named by its name or digest. An input is a path, whose file is sent piece by piece; the file's content as ``bytes``; an
        object of this package such as a ``circom.Witness``; or, where it is JSON, what is in it. A ``str`` that begins with ``{`` or
        ``[`` is JSON, others are paths.

        Jobs of a higher ``priority`` go first. ``expires`` is for how many seconds the job may wait, ``timeout`` for how many seconds an
        attempt may take. Two submissions with the same ``idempotency_key`` are one job; without one, a random one makes repetitions of
        this call safe.

        Raises ValueError for inputs that do not belong together, Refused, and Unreachable.
        """
        arguments = {"key": key, "witness": witness, "signals": signals, "program": program, "proof": proof, "public": public}
        arguments |= {"trace": trace, "inner": inner, "air": air, "sets": sets, "hash": hash, "bits": bits, "priority": priority}
        arguments |= {"expires": expires, "timeout": timeout, "attempts": attempts, "idempotency_key": idempotency_key}
        return self._submit(submission_of(arguments, uuid.uuid4().hex))

    def submit_all(self, jobs: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None) -> list[Job]:
        """Submits many jobs, each a dict of the arguments of ``submit``, and returns them in the same order. All arguments are checked
        before anything is sent.

        Jobs whose inputs are JSON go together, up to 1000 jobs and 16 MiB in a request. A job with a ``witness`` or a ``trace``, or with
        more than 1 MiB, has a request of its own, because the service takes only small JSON in a batch.

        A job without an ``idempotency_key`` of its own has that of the call with its place, as in ``NAME.0``. So the same call with the
        same key submits no job twice.

        The service accepts or refuses each job on its own: one that is refused does not stop the others. At the end, the exception of the
        first job that was not submitted is raised, Refused or Unreachable. For each job, in order, its ``answers`` have the Job or the
        exception. Nothing more is sent once the service cannot be reached, refuses a whole request, or refuses a job for the moment for
        longer than ``retry_for``.
        """
        name = idempotency_key or uuid.uuid4().hex
        submissions = [numbered(place, job, name) for place, job in enumerate(jobs)]
        answers: list[Job | Refused | None] = [None] * len(submissions)
        failure: ServiceError | None = None
        try:
            for first, batch, texts in batches(submissions):
                if texts:
                    answers[first : first + len(batch)] = self._submit_together(texts)
                for place, submission in enumerate(batch, first):
                    answers[place] = answers[place] or self._submit_alone(submission)
        except ServiceError as error:
            failure = error
        for place, answer in enumerate(answers):
            problem = answer or failure
            if isinstance(problem, ServiceError):
                problem.args = (f"jobs[{place}]: {problem}",)
                problem.answers = [answer or failure for answer in answers]
                raise problem
        return [answer for answer in answers if isinstance(answer, Job)]

    def _submit(self, submission: Submission) -> Job:
        parts = {"job": submission.job, **submission.inputs}
        headers = {"Idempotency-Key": submission.idempotency_key}
        return Job(self._service, job_view(self._service.json("POST", "/v1/jobs", Body.form(parts), headers)))

    def _submit_alone(self, submission: Submission) -> Job | Refused:
        """The job, or why it is refused. Raises what other jobs would meet as well."""
        try:
            return self._submit(submission)
        except Refused as refused:
            if refused.status in TEMPORARY:
                raise
            return refused

    def _submit_together(self, texts: list[bytes]) -> list[Job | Refused | None]:
        """For each job, the job, or why it is refused, or None if it is refused for the moment."""
        body = Body([b"[", b",".join(texts), b"]"], "application/json")
        # The service waits for the disk once for each input.
        found = self._service.json("POST", "/v1/jobs/batch", body, wait=len(texts) / 10)
        answers = fields({"jobs": found}, jobs=list)["jobs"]
        if len(answers) != len(texts):
            raise ServiceError(f"the service's answer is not as expected: {len(answers)} answers to {len(texts)} jobs")
        return [self._answer(answer) for answer in answers]

    def _answer(self, answer: Any) -> Job | Refused | None:
        status = fields(answer, status=int)["status"]
        if 200 <= status < 300:
            return Job(self._service, job_view(answer.get("job")))
        return None if status in TEMPORARY else refusal(answer.get("problem"), status)

    def job(self, id: str) -> Job:
        """The job with this id. Raises Refused (404) if there is none."""
        return Job(self._service, job_view(self._service.json("GET", f"/v1/jobs/{quote(id, safe='')}")))

    def jobs(self, state: str | None = None) -> Iterator[Job]:
        """The token's jobs, the last submitted first, or those in a state: queued, running, done, failed, dead, cancelled, expired."""
        query = f"?state={quote(state, safe='')}" if state else "?"
        path: str | None = f"/v1/jobs{query}"
        while path:
            page = fields(self._service.json("GET", path), jobs=list)
            yield from (Job(self._service, job_view(job)) for job in page["jobs"])
            path = f"/v1/jobs{query}&cursor={quote(page['next'], safe='')}" if page.get("next") else None

    def add_key(self, source: Any, name: str | None = None) -> Key:
        """Adds a key: a proving key, a verification key, a circuit's WASM or graph, an AIR; its path, its content as ``bytes``, or an object
        of this package. A key that the service has is not sent again. The name moves from the key that had it.
        """
        piece = content("key", source)
        digest = sha256(piece)
        path = f"/v1/keys/{digest}" + (f"?name={quote(name, safe='')}" if name is not None else "")
        try:
            self._service.json("GET", f"/v1/keys/{digest}")
            body = None
        except Refused as refused:
            if refused.status != 404:
                raise
            body = Body([piece], "application/octet-stream")
        return key_of(self._service.json("PUT", path, body))

    def keys(self) -> list[Key]:
        """The token's keys, in the order in which they were added."""
        return [key_of(found) for found in fields({"keys": self._service.json("GET", "/v1/keys")}, keys=list)["keys"]]

    def remove_key(self, key: str | Key) -> None:
        """Removes a key from the token's. Jobs that use it go on."""
        try:
            self._service.json("DELETE", f"/v1/keys/{quote(key_name(key), safe='')}")
        except Refused as refused:
            # The answer to an earlier try was lost.
            if refused.status != 404 or not refused.repeated:
                raise


class Job:
    """A job of a service."""

    def __init__(self, service: Service, view: dict[str, Any]) -> None:
        self._service = service
        self._path = f"/v1/jobs/{quote(view['id'], safe='')}"
        self.view = view

    def __repr__(self) -> str:
        return f"<proofmill.client.Job {self.id}: {self.view['state']}>"

    @property
    def id(self) -> str:
        """Its id, by which ``Client.job`` finds it again."""
        return str(self.view["id"])

    @property
    def state(self) -> str:
        """Its state: queued, running, done, failed, dead, cancelled or expired. Asks the service, unless the job has ended. ``view`` has all
        that the service said last, without asking: phase, attempts, times.
        """
        if self.view["state"] in UNFINISHED:
            self._ask(0, None)
        return str(self.view["state"])

    def wait(self, timeout: float | None = None) -> str:
        """Waits until the job has ended, and returns its state. Raises TimeoutError if it has not after ``timeout`` seconds; the job goes on."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.view["state"] in UNFINISHED:
            left = math.inf if until is None else until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"the job is {self.view['state']} after {timeout} s")
            # Whole seconds; the rest by looking again.
            self._ask(int(min(WAIT_SECONDS, left)), until)
            if self.view["state"] in UNFINISHED:
                time.sleep(max(0, min(LOOK_AGAIN_SECONDS, left)))
        return str(self.view["state"])

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the job's end, and returns proof and public signals. Results are kept for some days.

        Raises TimeoutError after ``timeout`` seconds, and for a job that has no result JobFailed (the input is wrong), JobLost (all
        attempts were lost), JobCancelled or JobExpired.
        """
        state = self.wait(timeout)
        if state != "done":
            why = self.view.get("error")
            raise ENDS.get(state, JobError)(f"the job is {state}: {why}" if why else f"the job is {state}", self)
        kind = fields(self.view["task"], type=str)["type"]
        if kind not in ("prove", "aggregate", "prove-stark"):
            return Result(None, None)
        if kind == "prove-stark":
            return Result(self._service.content(f"{self._path}/proof"), None)
        outputs = self.view.get("outputs") or {}
        proof, public = (
            outputs[name] if name in outputs else self._service.json("GET", f"{self._path}/{name}") for name in ("proof", "public")
        )
        try:
            signals = [int(signal) for signal in public]
        except (TypeError, ValueError):
            raise ServiceError("the service's answer is not as expected: public") from None
        return Result(json.dumps(proof), signals)

    def cancel(self) -> None:
        """Cancels the job; a running proof is killed. Raises Refused (409) if it has ended otherwise."""
        self._change("DELETE", "", ("cancelled",))

    def retry(self) -> None:
        """Queues a job that is dead again. Raises Refused: 409 if it has ended otherwise, 404 if its inputs are deleted."""
        self._change("POST", "/retry", UNFINISHED)

    def events(self) -> Iterator[dict[str, Any]]:
        """What happens to the job, until it has ended: the job, now and after each change of its state or phase."""
        told, since = None, time.monotonic()
        while True:
            for line in self._service.lines(f"{self._path}/events"):
                # Of a heartbeat, too: a job may wait for hours.
                since = time.monotonic()
                if not line.startswith(b"data:"):
                    continue
                self.view = job_view(parsed(line[5:]))
                now = (self.view["state"], self.view.get("attempts"), self.view.get("phase"))
                if now != told:
                    told = now
                    yield self.view
                if self.view["state"] not in UNFINISHED:
                    # A job that is shown alone has its outputs.
                    self._ask(0, None)
                    return
            if time.monotonic() - since > self._service.retry_for:
                raise Unreachable(f"{self._service.name}: no events come")
            time.sleep(LOOK_AGAIN_SECONDS)

    def _ask(self, wait: int, until: float | None) -> None:
        self.view = job_view(self._service.json("GET", f"{self._path}?wait={wait}", wait=wait, until=until))

    def _change(self, method: str, path: str, wanted: tuple[str, ...]) -> None:
        """Asks for a change of the state; a job that is as wanted needs none, such as after a lost answer."""
        try:
            self.view = job_view(self._service.json(method, f"{self._path}{path}"))
        except Refused as refused:
            if refused.status != 409:
                raise
            self._ask(0, None)
            if self.view["state"] not in wanted:
                raise


@dataclass(frozen=True)
class Submission:
    """A job as it is sent: JSON without the inputs, and these."""

    job: bytes
    inputs: Mapping[str, bytes | memoryview | File]
    idempotency_key: str

    def in_batch(self) -> tuple[Submission, bytes] | None:
        """The job with its inputs in memory, without white space around them, as the service takes them from a batch; and all of it as
        JSON. None if an input is no JSON, or if it is too large for a batch.
        """
        inputs: dict[str, bytes] = {}
        for name, piece in self.inputs.items():
            body = Body([piece], "")
            if name in BINARY or body.bytes > MOST_JSON_BYTES:
                return None
            inputs[name] = b"".join(body.chunks()).strip(b" \t\r\n")
            if not is_json(inputs[name]):
                return None
        members = b", ".join(b'"%b": %b' % (name.encode(), value) for name, value in inputs.items())
        key = json.dumps(self.idempotency_key).encode()
        text = b'%b, "idempotency_key": %b, "inputs": {%b}}' % (self.job[:-1], key, members)
        return None if len(text) > MOST_JSON_BYTES else (replace(self, inputs=inputs), text)


def submission_of(arguments: Mapping[str, Any], idempotency_key: str) -> Submission:
    """What is sent for these arguments of ``Client.submit``, with this key unless they have one."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if unknown := sorted(given.keys() - INPUTS - OPTIONS - OTHERS):
        raise TypeError(f"{' and '.join(unknown)}: not an argument of submit")
    inputs = {name: value for name, value in given.items() if name in INPUTS}
    options = {name: value for name, value in given.items() if name in OPTIONS}
    job = {"type": job_type(inputs, options), **{name: key_name(value) for name, value in options.items()}}
    limits = {"expires_in_s": whole(given.get("expires")), "timeout_s": whole(given.get("timeout")), "attempts": given.get("attempts")}
    job |= {"priority": given.get("priority", 0), **{name: value for name, value in limits.items() if value is not None}}
    parts = {name: content(name, value) for name, value in inputs.items()}
    text = json.dumps(job, allow_nan=False).encode()
    return Submission(text, parts, check_visible("idempotency_key", given.get("idempotency_key") or idempotency_key))


def numbered(place: int, arguments: Any, name: str) -> Submission:
    """What is sent for the job in this place of ``Client.submit_all``."""
    try:
        if not isinstance(arguments, Mapping):
            raise TypeError(f"expected a dict of arguments of submit, found {type(arguments).__name__}")
        return submission_of(arguments, f"{name}.{place}")
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"jobs[{place}]: {error}") from None


def batches(submissions: Iterable[Submission]) -> Iterator[tuple[int, list[Submission], list[bytes]]]:
    """The jobs in order, in as few requests as the service permits: the place of the first, the jobs, and their texts. A job that cannot be
    in a batch is alone, without a text.
    """
    first, batch, texts, size = 0, list[Submission](), list[bytes](), 0
    for place, submission in enumerate(submissions):
        small = submission.in_batch()
        if batch and (small is None or len(batch) == MOST_BATCH_JOBS or size + len(small[1]) > MOST_BATCH_BYTES):
            yield first, batch, texts
            batch, texts = [], []
        if small is None:
            yield place, [submission], []
            continue
        if not batch:
            # The brackets; a comma comes with each job.
            first, size = place, 2
        batch.append(small[0])
        texts.append(small[1])
        size += len(small[1]) + 1
    if batch:
        yield first, batch, texts


def of_data_folder(url: str | None, token: str | None) -> tuple[str, str]:
    """Address and token from the data folder, where one is missing. Its token is for its server only."""
    folder = _places.server_data()
    advice = "is `proofmill serve` running? url= names a server" if url is None else "token= is the token's secret"
    address = text(folder / "address", advice)
    if url is not None and url.rstrip("/") != address.rstrip("/"):
        raise ValueError(f"token: missing; the one in {folder} is for {address}, not for {url}")
    return address, token or text(folder / "token", "token= is the token's secret")


def text(path: Path, advice: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file; {advice}") from None


def job_type(inputs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """The type of the job with these inputs. Raises ValueError if there is none, or if keys or options are missing or too many."""
    if frozenset(inputs) not in TYPES:
        known = "; ".join(" and ".join(sorted(names)) for names in TYPES)
        raise ValueError(f"inputs: expected {known}; found {' and '.join(sorted(inputs)) or 'none'}")
    kind, necessary, possible = TYPES[frozenset(inputs)]
    if missing := sorted(necessary - options.keys()):
        raise ValueError(f"{' and '.join(missing)}: missing for a job of type {kind}")
    if others := sorted(options.keys() - necessary - possible):
        raise ValueError(f"{' and '.join(others)}: not an option of a job of type {kind}")
    return kind


def key_name(value: Any) -> Any:
    return value.digest if isinstance(value, Key) else value


def whole(seconds: float | None) -> int | None:
    return None if seconds is None else math.ceil(seconds)


def check_visible(name: str, value: str) -> str:
    if not 1 <= len(value) <= 255 or not all("!" <= character <= "~" for character in value):
        raise ValueError(f"{name}: expected 1 to 255 visible ASCII characters without spaces")
    return value


def content(name: str, value: Any) -> bytes | memoryview | File:
    """An input or a key as it is sent."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, os.PathLike):
        return file_piece(value)
    if isinstance(value, str):
        return value.encode() if value.lstrip()[:1] in ("{", "[") else file_piece(value)
    if hasattr(value, "to_bytes") and not isinstance(value, int):
        return bytes(value.to_bytes())
    if hasattr(value, "to_json"):
        return str(value.to_json()).encode()
    if name == "trace":
        return rows(value)
    if name in ("key", "witness"):
        raise TypeError(f"{name}: expected a path, bytes or an object of this package, found {type(value).__name__}")
    if name == "sets":
        value = [signature_set(member) for member in value]
    if name == "inner":
        value = [inner_proof(member) for member in value]
        return json.dumps(value).encode()
    return json.dumps(plain(name, value)).encode()


def rows(trace: Any) -> memoryview:
    """An array's bytes, without a copy."""
    try:
        view = memoryview(trace)
    except TypeError:
        raise TypeError(f"trace: expected an array of numpy.uint64, a path or bytes, found {type(trace).__name__}") from None
    if view.itemsize != 8 or view.format not in ("L", "Q", "<L", "<Q") or not view.c_contiguous:
        raise ValueError("trace: expected a contiguous array of numpy.uint64; numpy.ascontiguousarray(trace, dtype=numpy.uint64) makes one")
    return view.cast("B")


def plain(name: str, value: Any) -> Any:
    """Integers as strings, because JSON's numbers are read as 64 bits; arrays as lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(name, member) for key, member in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(name, member) for member in value]
    if hasattr(value, "__index__"):
        return str(value.__index__())
    raise TypeError(f"{name}: expected integers, strings of digits, lists or arrays of them, found {type(value).__name__}")


def signature_set(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    keys, message, signature = value
    return {"public_keys": [key.hex() for key in keys], "message": message.hex(), "signature": signature.hex()}


def inner_proof(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    proof, public = value
    encoded = base64.b64encode(proof if isinstance(proof, bytes) else proof.to_bytes())
    return {"proof": encoded.decode(), "public": [int(member) for member in public]}


def sha256(piece: bytes | memoryview | File) -> str:
    hashed = hashlib.sha256()
    for chunk in Body([piece], "").chunks():
        hashed.update(chunk)
    return hashed.hexdigest()


def is_json(content: bytes) -> bool:
    """Whether it is JSON that may stand within other JSON."""
    try:
        # int refuses what is no JSON: NaN and Infinity.
        json.loads(content.decode(), parse_constant=int)
        return True
    except (ValueError, RecursionError):
        return False


def parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise ServiceError("the service's answer is not as expected: no JSON") from None


def fields(answer: Any, **types: type) -> dict[str, Any]:
    """The answer, if it is an object with these fields."""
    for name, kind in types.items():
        if not isinstance(answer, dict) or not isinstance(answer.get(name), kind):
            raise ServiceError(f"the service's answer is not as expected: {name}")
    found: dict[str, Any] = answer
    return found


def job_view(answer: Any) -> dict[str, Any]:
    return fields(answer, id=str, state=str, task=dict)


def key_of(answer: Any) -> Key:
    found = fields(answer, digest=str, bytes=int, facts=dict)
    kind = fields(found["facts"], kind=str)["kind"]
    return Key(found["digest"], found.get("name"), found["bytes"], kind, found["facts"], found.get("created_at", 0))
