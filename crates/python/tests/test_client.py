"""The client against a server that misbehaves, which is part of the test."""

import contextlib
import json
import os
import pickle
import re
import select
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import SMALL, certificate
from fake import Fake, accepting, batch, closing, dripping, job, lost, problem, raw, says, slow, view

import proofmill as pm
from proofmill import _http
from proofmill.client import JobCancelled, JobExpired, JobFailed, JobLost, Refused, ServiceError, Unreachable

pytestmark = pytest.mark.usefixtures("usual_recursion")
SECRET = "pm_secret"
PROOF, PUBLIC = {"pi_a": ["1", "2"]}, ["5", str(2**200)]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However slow a test is, connections are not too old for another request."""
    monkeypatch.setattr(_http, "IDLE_SECONDS", 3600)


@pytest.fixture
def fake():
    server = Fake()
    yield server
    server.close()


@pytest.fixture
def client(fake):
    return pm.Client(fake.url, SECRET, retry_for=20)


def submit(client, fake, *answers, **options):
    fake.answers[:] = answers
    return client.submit("k", witness=b"w", **options)


def parts(request):
    """The parts of a form."""
    _, _, headers, body = request
    boundary = re.fullmatch("multipart/form-data; boundary=(.*)", headers["Content-Type"]).group(1).encode()
    pieces = body.split(b"--" + boundary)
    assert pieces[0] == b"" and pieces[-1] == b"--\r\n"
    found = (re.fullmatch(rb'\r\nContent-Disposition: form-data; name="(.*?)"\r\n\r\n(.*)\r\n', piece, re.S) for piece in pieces[1:-1])
    return {part.group(1).decode(): part.group(2) for part in found}


def test_a_submission(client, fake):
    made = submit(client, fake, job(), expires=1.5, timeout=3, attempts=2, priority=-1, idempotency_key="mine")
    assert made.id == "0" * 32 and made.view["state"] == "queued" and len(fake.requests) == 1
    method, path, headers, _ = fake.requests[0]
    assert (method, path, headers["Authorization"], headers["Idempotency-Key"]) == ("POST", "/v1/jobs", f"Bearer {SECRET}", "mine")
    sent = parts(fake.requests[0])
    assert json.loads(sent["job"]) == {"type": "prove", "key": "k", "priority": -1, "expires_in_s": 2, "timeout_s": 3, "attempts": 2}
    assert sent["witness"] == b"w"


@pytest.mark.parametrize(
    "trouble",
    [
        lost,
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"),
        raw(b"SSH-2.0\r\n"),
        raw(b"HTTP/1.1 200 OK\r\n"),
        problem(429, "too many jobs wait", Retry_After="0"),
        problem(503, "the store does not answer", Retry_After="0"),
        says(b"<html>", 502),
        problem(507, "the service's disk is full"),
    ],
)
def test_a_submission_is_repeated_as_the_same(client, fake, trouble, tmp_path):
    witness = tmp_path / "w.wtns"
    witness.write_bytes(bytes(range(256)) * 4000)
    fake.answers[:] = [trouble, trouble, job()]
    client.submit("k", witness=witness)
    assert len(fake.requests) == 3
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in fake.requests}) == 1
    assert all(parts(request)["witness"] == witness.read_bytes() for request in fake.requests)


def test_retry_after_is_obeyed(client, fake):
    began = time.monotonic()
    submit(client, fake, problem(429, "too many", Retry_After="1"), job())
    assert time.monotonic() - began >= 1


def test_retries_end(fake):
    client = pm.Client(fake.url, SECRET, retry_for=0.5)
    with pytest.raises(Refused, match="too many") as caught:
        submit(client, fake, problem(429, "too many"))
    assert caught.value.status == 429 and 2 <= len(fake.requests) < 20
    with pytest.raises(Unreachable, match="127.0.0.1:"):
        submit(client, fake, lost)
    count = len(fake.requests)
    with pytest.raises(Refused):
        submit(client, fake, problem(503, "come back later", Retry_After="3600"))
    assert len(fake.requests) == count + 1


@pytest.mark.parametrize("status", [302, 400, 401, 404, 413, 422])
def test_refusals_are_not_repeated(client, fake, status):
    with pytest.raises(Refused, match="^it is wrong$") as caught:
        submit(client, fake, problem(status, "it is\x1b\nwrong".replace("\x1b\n", " ")))
    assert caught.value.status == status and len(fake.requests) == 1 and not caught.value.repeated
    assert isinstance(caught.value, ServiceError) and isinstance(caught.value, pm.Error)


@pytest.mark.parametrize("content", [b"", b"no json", b'{"detail": 5}', b"[" * 100_000, b"x" * 100_000, b"\xff"])
def test_refusals_without_a_problem(client, fake, content):
    with pytest.raises(Refused, match="the server answers 403 Forbidden"):
        submit(client, fake, says(content, 403))


def test_terminals_are_not_confused(client, fake):
    with pytest.raises(Refused, match=r"^red  \[31m line$"):
        submit(client, fake, problem(400, "red\n\x1b[31m\rline"))


@pytest.mark.parametrize("content", [b"no json", b"[]", b"null", b'{"id": 5}', b'{"id": "x", "state": "queued"}', b"[" * 100_000, b""])
def test_malformed_answers(client, fake, content):
    with pytest.raises(ServiceError) as caught:
        submit(client, fake, says(content))
    assert len(fake.requests) == 1 and "\n" not in str(caught.value)


def test_nobody_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = pm.Client(f"http://127.0.0.1:{taken.getsockname()[1]}", SECRET, retry_for=0.3)
        with pytest.raises(Unreachable, match="refused"):
            client.keys()


def test_a_server_that_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = pm.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", SECRET, retry_for=0.3)
        waiting = pm.client.Job(client._service, view())
        began = time.monotonic()
        with pytest.raises(Unreachable, match="no answer in time"):
            waiting.result(timeout=0.5)
        assert time.monotonic() - began < 10


def test_an_answer_that_drips(client, fake):
    waiting = submit(client, fake, job(), dripping)
    began = time.monotonic()
    with pytest.raises(Unreachable):
        waiting.result(timeout=0.3)
    assert time.monotonic() - began < 10


def test_result(client, fake):
    done = job("done", outputs={"proof": PROOF, "public": PUBLIC})
    result = submit(client, fake, job(), job("running"), lost, slow(0.2, job("running")), done).result(timeout=10)
    assert json.loads(result.proof) == PROOF and result.public == [5, 2**200]
    assert {path.split("?")[0] for _, path, _, _ in fake.requests[1:]} == {f"/v1/jobs/{'0' * 32}"}
    assert re.search(r"\?wait=[1-9]$", fake.requests[1][1])


def test_a_large_result_is_fetched(client, fake):
    result = submit(client, fake, job(), job("done", outputs={"proof": PROOF}), says(PUBLIC)).result()
    assert result.public == [5, 2**200] and fake.requests[-1][1].endswith("/public")
    stark = job("done", task={"type": "prove-stark", "key": "k"})
    result = submit(client, fake, job(), stark, says(b"\0\1")).result()
    assert result == (b"\0\1", None)
    assert submit(client, fake, job("done", task={"type": "verify", "key": "k"})).result() == (None, None)


@pytest.mark.parametrize("public", [5, ["x"], [None], {"a": 1}, "x"])
def test_a_malformed_result(client, fake, public):
    with pytest.raises(ServiceError, match="public"):
        submit(client, fake, job("done", outputs={"proof": PROOF, "public": public})).result()


@pytest.mark.parametrize(
    "state, kind", [("failed", JobFailed), ("dead", JobLost), ("cancelled", JobCancelled), ("expired", JobExpired), ("new", ServiceError)]
)
def test_jobs_without_a_result(client, fake, state, kind):
    made = submit(client, fake, job(), job(state, error="why it ended"))
    with pytest.raises(kind, match=f"^the job is {state}: why it ended$") as caught:
        made.result()
    assert caught.value.job is made
    others = {JobFailed, JobLost, JobCancelled, JobExpired} - {kind}
    assert not isinstance(caught.value, tuple(others))


def test_a_job_that_goes_on(client, fake):
    made = submit(client, fake, job(), job("running"))
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="running after 0.3 s"):
        made.result(timeout=0.3)
    assert 0.25 < time.monotonic() - began < 10
    with pytest.raises(TimeoutError):
        made.result(timeout=0)


def test_cancel_and_retry(client, fake):
    made = submit(client, fake, job(), job("cancelled"))
    made.cancel()
    assert made.state == "cancelled" and fake.requests[-1][0] == "DELETE"
    # The first answer was lost.
    made = submit(client, fake, job(), lost, problem(409, "it has ended"), job("cancelled"))
    made.cancel()
    assert made.state == "cancelled"
    made = submit(client, fake, job(), problem(409, "it has ended"), job("done"))
    with pytest.raises(Refused, match="it has ended"):
        made.cancel()
    made = submit(client, fake, job("dead"), job("queued"))
    made.retry()
    assert made.view["state"] == "queued" and fake.requests[-1][:2] == ("POST", f"/v1/jobs/{'0' * 32}/retry")
    made = submit(client, fake, job("dead"), lost, problem(409, "it is not dead"), job("running"))
    made.retry()
    made = submit(client, fake, job("dead"), problem(409, "it is not dead"), job("done"))
    with pytest.raises(Refused):
        made.retry()


def events(*views):
    lines = "".join(f": ping\n\nevent: state\nid: 1\ndata: {json.dumps(view)}\n\n" for view in views)
    return says(lines.encode(), Content_Type="text/event-stream")


def test_events(client, fake):
    # The stream breaks off, and begins again with the present state.
    streams = [events(view(), view("running", phase="msm")), lost, events(view("running", phase="msm"), view("done"))]
    made = submit(client, fake, job(), *streams, job("done", outputs={"proof": PROOF, "public": PUBLIC}))
    found = [(event["state"], event.get("phase")) for event in made.events()]
    assert found == [("queued", None), ("running", "msm"), ("done", None)]
    count = len(fake.requests)
    assert made.result().public == [5, 2**200] and len(fake.requests) == count
    with pytest.raises(ServiceError):
        list(submit(client, fake, job(), says(b"data: {]\n\n")).events())


def test_jobs_come_in_pages(client, fake):
    fake.answers[:] = [says({"jobs": [view()], "next": "a b"}), says({"jobs": [view("done")], "next": None})]
    assert [one.view["state"] for one in client.jobs()] == ["queued", "done"]
    assert "cursor=a%20b" in fake.requests[-1][1]
    list(client.jobs(state="dead"))
    assert "state=dead" in fake.requests[-1][1]


def test_keys(client, fake, tmp_path):
    path = tmp_path / "c.zkey"
    path.write_bytes(b"k" * 1_000_000)
    known = {"digest": "d" * 64, "name": "c", "bytes": 9, "facts": {"kind": "groth16", "domain": 8}, "created_at": 1}
    fake.answers[:] = [problem(404, "no such key"), lost, says(known, 201)]
    key = client.add_key(path, name="c d")
    assert (key.digest, key.kind, key.facts["domain"]) == ("d" * 64, "groth16", 8)
    assert [(method, len(body)) for method, _, _, body in fake.requests] == [("GET", 0), ("PUT", 10**6), ("PUT", 10**6)]
    assert fake.requests[-1][1].endswith("?name=c%20d") and len(fake.requests[-1][1]) == len("/v1/keys/?name=c%20d") + 64
    # The service has it: only the name is sent.
    fake.answers[:] = [says(known)]
    client.add_key(b"bytes")
    assert fake.requests[-1][0] == "PUT" and fake.requests[-1][3] == b"" and "name" not in fake.requests[-1][1]
    fake.answers[:] = [says([known, known])]
    assert client.keys() == [key, key]
    fake.answers[:] = [lost, problem(404, "no such key")]
    client.remove_key(key)
    with pytest.raises(Refused, match="no such key"):
        client.remove_key("c/d")
    assert fake.requests[-1][1] == "/v1/keys/c%2Fd"
    fake.answers[:] = [says({})]
    with pytest.raises(ServiceError):
        client.keys()


def sent(client, fake, **inputs):
    fake.answers[:] = [job()]
    client.submit(**inputs)
    form = parts(fake.requests[-1])
    return json.loads(form.pop("job")), form


def test_types_of_jobs(client, fake):
    signals = {"a": 3, "b": [2**100, "7"], "c": np.arange(2), "d": True}
    asked, form = sent(client, fake, key="k", program="p", signals=signals)
    assert asked == {"type": "prove", "key": "k", "program": "p", "priority": 0}
    assert json.loads(form["signals"]) == {"a": "3", "b": [str(2**100), "7"], "c": ["0", "1"], "d": "1"}
    trace = np.arange(6, dtype=np.uint64).reshape(3, 2)
    asked, form = sent(client, fake, key="k", trace=trace, public=[2**63], hash="poseidon2", bits=80)
    assert asked == {"type": "prove-stark", "key": "k", "hash": "poseidon2", "bits": 80, "priority": 0}
    assert form == {"trace": trace.tobytes(), "public": b'["9223372036854775808"]'}
    asked, form = sent(client, fake, key="k", air="a", inner=[(b"\0\1", [5])])
    assert asked["type"] == "aggregate" and json.loads(form["inner"]) == [{"proof": "AAE=", "public": [5]}]
    asked, form = sent(client, fake, sets=[([b"\1", b"\2"], b"\3", b"\4")])
    assert asked == {"type": "verify-bls", "priority": 0}
    assert json.loads(form["sets"]) == [{"public_keys": ["01", "02"], "message": "03", "signature": "04"}]


def test_objects_of_the_package(client, fake):
    key = pm.groth16.ProvingKey(SMALL / "groth16.zkey")
    proof = key.prove(SMALL / "witness.wtns")
    for public in (proof.public, str(SMALL / "public.json"), SMALL / "public.json"):
        asked, form = sent(client, fake, key="k", proof=proof, public=public)
        assert asked["type"] == "verify"
        assert json.loads(form["public"]) == json.loads(proof.public_json()) and form["proof"].decode() == proof.to_json()
    asked, form = sent(client, fake, key="k", proof=proof.to_json(), public=proof.public_json())
    assert form["proof"].decode() == proof.to_json()
    witness = pm.circom.Witness(SMALL / "witness.wtns")
    asked, form = sent(client, fake, key="k", witness=witness)
    assert form["witness"] == (SMALL / "witness.wtns").read_bytes()


@pytest.mark.parametrize(
    "inputs, words",
    [
        ({}, "inputs: expected witness; signals; public and trace; .* found none"),
        ({"key": "k"}, "found none"),
        ({"witness": b""}, "key: missing for a job of type prove"),
        ({"key": "k", "signals": {}}, "program: missing"),
        ({"key": "k", "witness": b"", "signals": {}}, "found signals and witness"),
        ({"key": "k", "witness": b"", "hash": "keccak"}, "hash: not an option of a job of type prove"),
        ({"key": "k", "sets": []}, "key: not an option"),
        ({"key": "k", "witness": b"", "idempotency_key": "a b"}, "idempotency_key"),
        ({"key": "k", "trace": np.zeros((4, 4), np.uint64).T, "public": []}, "trace: expected a contiguous array"),
        ({"key": "k", "trace": np.zeros((4, 4), np.int64), "public": []}, "trace: expected a contiguous array"),
    ],
)
def test_wrong_arguments(client, inputs, words):
    with pytest.raises(ValueError, match=words):
        client.submit(**inputs)


@pytest.mark.parametrize("inputs", [{"witness": 5}, {"trace": 5, "public": []}, {"signals": {"a": 1.5}, "program": "p"}, {"witness": {}}])
def test_wrong_types(client, inputs):
    with pytest.raises(TypeError):
        client.submit("k", **inputs)


def test_files(client, fake, tmp_path):
    fake.answers[:] = [job()]
    with pytest.raises(FileNotFoundError):
        client.submit("k", witness=tmp_path / "none.wtns")
    with pytest.raises(OSError, match="expected a regular file"):
        client.submit("k", witness=tmp_path)
    assert not fake.requests


def test_a_file_that_becomes_shorter(client, fake, tmp_path):
    path = tmp_path / "w.wtns"
    path.write_bytes(b"w" * 100)
    body = pm.client.Body.form({"witness": pm.client.file_piece(path)})
    path.write_bytes(b"w")
    fake.answers[:] = [job()]
    with pytest.raises(OSError, match="became shorter"):
        client._service.json("POST", "/v1/jobs", body)
    # What the server has is no whole request.
    assert all(len(content) < int(headers["Content-Length"]) for _, _, headers, content in fake.requests)


def test_a_file_is_not_read_into_memory(client, fake, tmp_path):
    tracemalloc = pytest.importorskip("tracemalloc")
    path = tmp_path / "w.wtns"
    with open(path, "wb") as file:
        file.truncate(64 << 20)
    # The server does not read it either.
    fake.server.RequestHandlerClass.do_POST = lambda handler: job()(handler)
    tracemalloc.start()
    try:
        client.submit("k", witness=path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_an_early_refusal_of_a_large_body(client, fake, tmp_path):
    path = tmp_path / "w.wtns"
    with open(path, "wb") as file:
        file.truncate(64 << 20)

    def refuse(handler):
        problem(401, "no valid token")(handler)
        handler.close_connection = True

    fake.server.RequestHandlerClass.do_POST = refuse
    with pytest.raises(Refused, match="no valid token"):
        client.submit("k", witness=path)
    assert not idle(client)


def signals(*values):
    """Jobs whose inputs are JSON."""
    return [{"key": "k", "program": "p", "signals": value} for value in values]


def test_a_batch(client, fake, tmp_path):
    path = tmp_path / "input.json"
    path.write_text('{"a":\t"3"}\r\n')
    fake.answers[:] = [batch(202, 200, 202)]
    last = {"key": "k", "proof": "{}", "public": [5], "idempotency_key": "own", "priority": 1, "expires": 1.5, "timeout": None}
    made = client.submit_all([*signals({"a": 2**100}, path), last], idempotency_key="name")
    assert [one.id for one in made] == ["1", "2", "3"]
    [(method, place, headers, body)] = fake.requests
    assert (method, place, headers["Content-Type"]) == ("POST", "/v1/jobs/batch", "application/json")
    proving, verified = {"type": "prove", "key": "k", "program": "p", "priority": 0}, {"proof": {}, "public": ["5"]}
    assert json.loads(body) == [
        {**proving, "idempotency_key": "name.0", "inputs": {"signals": {"a": str(2**100)}}},
        {**proving, "idempotency_key": "name.1", "inputs": {"signals": {"a": "3"}}},
        {"type": "verify", "key": "k", "priority": 1, "expires_in_s": 2, "idempotency_key": "own", "inputs": verified},
    ]
    # A digest of an input's bytes is compared when it comes again.
    assert b'{"a":\t"3"}' in body
    assert client.submit_all([]) == [] and len(fake.requests) == 1


def keys_of(body):
    return [one["idempotency_key"] for one in json.loads(body)]


def test_a_lost_answer_to_a_batch(client, fake):
    fake.answers[:] = [lost, problem(503, "come back later", Retry_After="0"), accepting]
    client.submit_all(signals(1, 2))
    bodies = {body for _, _, _, body in fake.requests}
    assert len(fake.requests) == 3 and len(bodies) == 1 and len(set(keys_of(bodies.pop()))) == 2


@pytest.mark.parametrize("content", [b"{", b"", b"[NaN]", b"\xff", b"[" * 100_000, b" " * (1 << 20) + b"{}", b'"%b"' % (b"x" * (1 << 20))])
def test_what_cannot_be_in_a_batch(client, fake, content):
    fake.answers[:] = [accepting]
    jobs = signals({}, {}, content, {})
    jobs.insert(3, {"key": "k", "witness": b"{}"})
    assert len(client.submit_all(jobs, idempotency_key="name")) == 5
    assert [path for _, path, _, _ in fake.requests] == ["/v1/jobs/batch", "/v1/jobs", "/v1/jobs", "/v1/jobs/batch"]
    first, second, third, last = fake.requests
    assert keys_of(first[3]) == ["name.0", "name.1"] and keys_of(last[3]) == ["name.4"]
    assert second[2]["Idempotency-Key"] == "name.2" and parts(second)["signals"] == content
    assert third[2]["Idempotency-Key"] == "name.3" and parts(third)["witness"] == b"{}"


def test_limits_of_a_batch(client, fake):
    fake.answers[:] = [accepting]
    assert len(client.submit_all(signals(*range(2001)))) == 2001
    assert [len(json.loads(body)) for _, _, _, body in fake.requests] == [1000, 1000, 1]
    fake.requests.clear()
    assert len(client.submit_all(signals(*["[]" + " " * size + "5" for size in [10**6] * 40]))) == 40
    assert all(path == "/v1/jobs" for _, path, _, _ in fake.requests)
    fake.requests.clear()
    assert len(client.submit_all(signals(*[json.dumps(["x" * 10**6])] * 40))) == 40
    assert [len(json.loads(body)) for _, _, _, body in fake.requests] == [16, 16, 8]
    assert all(len(body) <= 16 << 20 for _, _, _, body in fake.requests)


def test_a_batch_that_is_full_to_the_byte(client, fake, monkeypatch):
    fake.answers[:] = [accepting]
    client.submit_all(signals(1, 2, 3), idempotency_key="name")
    length = len(fake.requests[-1][3])
    for most, expected in [(length, [3]), (length - 1, [2, 1])]:
        monkeypatch.setattr(pm.client, "MOST_BATCH_BYTES", most)
        fake.requests.clear()
        client.submit_all(signals(1, 2, 3), idempotency_key="name")
        assert [len(json.loads(body)) for _, _, _, body in fake.requests] == expected


def test_refused_jobs_of_a_batch(client, fake):
    # What is refused for the moment is sent again.
    fake.answers[:] = [batch(202, 404, 429, 202), problem(429, "too many", Retry_After="0"), job(), job(), batch(422)]
    with pytest.raises(Refused, match=r"^jobs\[1\]: it is wrong$") as caught:
        client.submit_all([*signals(0, 1, b' {"a": "2"}\n', 3), {"key": "k", "witness": b""}, *signals(5)], idempotency_key="name")
    # With the bytes that the service found in the batch.
    assert parts(fake.requests[1])["signals"] == parts(fake.requests[2])["signals"] == b'{"a": "2"}'
    assert [path for _, path, _, _ in fake.requests] == ["/v1/jobs/batch", "/v1/jobs", "/v1/jobs", "/v1/jobs", "/v1/jobs/batch"]
    assert [fake.requests[place][2]["Idempotency-Key"] for place in (1, 2, 3)] == ["name.2", "name.2", "name.4"]
    answers = [getattr(answer, "id", None) or answer.status for answer in caught.value.answers]
    assert answers == ["1", 404, "0" * 32, "4", "0" * 32, 422] and caught.value.answers[1] is caught.value


def test_a_refused_job_alone_does_not_stop_others(client, fake):
    fake.answers[:] = [problem(404, "no such key"), job()]
    with pytest.raises(Refused, match=r"^jobs\[0\]: no such key$") as caught:
        client.submit_all([{"key": key, "witness": b""} for key in "ab"])
    assert caught.value.answers[1].state == "queued"


@pytest.mark.parametrize("trouble, kind", [(problem(429, "too many"), Refused), (lost, Unreachable), (says(b"[]"), ServiceError)])
def test_submissions_stop(fake, trouble, kind):
    client = pm.Client(fake.url, SECRET, retry_for=0)
    fake.answers[:] = [batch(202, 429, 429, 202), trouble]
    with pytest.raises(kind, match=r"^jobs\[1\]: ") as caught:
        client.submit_all([*signals(0, 1, 2, 3), {"key": "k", "witness": b""}, *signals(5)])
    failure, answers = caught.value, caught.value.answers
    # A kept connection that breaks is replaced.
    assert len(fake.requests) == (3 if trouble is lost else 2)
    assert answers[1:3] == [failure] * 2 and answers[4:] == [failure] * 2
    assert [answers[place].id for place in (0, 3)] == ["1", "4"]


def test_a_whole_batch_is_refused(client, fake):
    fake.answers[:] = [problem(401, "no valid token")]
    with pytest.raises(Refused, match=r"^jobs\[0\]: no valid token$") as caught:
        client.submit_all(signals(*range(1001)))
    assert len(fake.requests) == 1 and caught.value.answers == [caught.value] * 1001


@pytest.mark.parametrize(
    "content", [{}, [], [{}], [5], [{"status": "x"}], [{"status": 202}], [{"status": 202, "job": view()}] * 2, b"no json"]
)
def test_malformed_answers_to_a_batch(client, fake, content):
    fake.answers[:] = [says(content)]
    with pytest.raises(ServiceError) as caught:
        client.submit_all(signals(0))
    assert len(fake.requests) == 1 and not isinstance(caught.value, Refused)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({}, "inputs: expected"),
        ({"key": "k", "witness": "none.wtns"}, "none.wtns"),
        ({"key": "k", "witnes": b""}, r"jobs\[1\]: witnes: not an argument of submit"),
        ({"key": "k", "witness": b"", "idempotency_key": "a b"}, r"jobs\[1\]: idempotency_key"),
        ({"key": "k", "witness": b"", "priority": float("nan")}, r"jobs\[1\]: "),
        ("witness", r"jobs\[1\]: expected a dict of arguments of submit, found str"),
    ],
)
def test_wrong_arguments_of_a_batch(client, fake, wrong, words):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=words):
        client.submit_all([*signals(1), wrong])
    assert not fake.requests


def idle(client):
    """Connections that are kept."""
    return list(client._service._idle._connections)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\nTrailer: x\r\n\r\n"


@pytest.mark.parametrize(
    "answer, is_kept",
    [
        (says([]), True),
        (says([], Connection="keep-alive"), True),
        (says(b"no json"), True),
        (problem(404, "it is not there"), True),
        (lambda handler: handler.wfile.write(CHUNKED), True),
        (says([], Connection="close"), False),
        (lambda handler: handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n[]"), False),
        # The error is not read to its end.
        (says(b"x" * 100_000, 403), False),
        (lambda handler: handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n"), False),
    ],
)
def test_connections_are_kept(client, fake, answer, is_kept):
    fake.answers[:] = [says([]), answer, says([])]
    for count in range(1, 5):
        with contextlib.suppress(ServiceError):
            client.keys()
        assert len(fake.requests) == count and len(idle(client)) == (count != 2 or is_kept)
    assert len(set(fake.connections)) == (1 if is_kept else 2)
    assert fake.connections[0] == fake.connections[1] and fake.connections[2] == fake.connections[3]


def test_streams_are_not_kept(client, fake):
    fake.answers[:] = [says([]), events(view())]
    client.keys()
    lines = client._service.lines("/v1/jobs/x/events")
    next(lines)
    assert not idle(client)
    list(lines)
    assert not idle(client) and fake.connections[0] == fake.connections[1]


def until_closed(connection):
    assert select.select([connection._socket], [], [], 60)[0]


def test_a_kept_connection_that_was_closed(fake):
    client = pm.Client(fake.url, SECRET, retry_for=0)
    fake.answers[:] = [closing(says([])), problem(404, "no such key")]
    client.keys()
    until_closed(*idle(client))
    with pytest.raises(Refused) as caught:
        client.remove_key("k")
    assert not caught.value.repeated and len(set(fake.connections)) == 2


def test_a_kept_connection_that_breaks(fake, monkeypatch):
    """It is replaced, also without any time for retries."""
    client = pm.Client(fake.url, SECRET, retry_for=0)
    fake.answers[:] = [says([]), lost, problem(404, "no such key")]
    client.keys()
    # The service may have removed it.
    client.remove_key("k")
    assert len(fake.requests) == 3 and len(set(fake.connections)) == 2
    # The new one has no answer either.
    fake.answers[:] = [lost]
    with pytest.raises(Unreachable):
        client.keys()
    assert len(fake.requests) == 5 and len(set(fake.connections)) == 3
    # It was closed, which is not seen before the request.
    fake.answers[:] = [says([]), problem(404, "no such key")]
    client.keys()
    monkeypatch.setattr(_http._Connection, "is_usable", lambda connection: True)
    idle(client)[0]._socket.shutdown(socket.SHUT_WR)
    with pytest.raises(Refused) as caught:
        client.remove_key("k")
    assert not caught.value.repeated and len(fake.requests) == 7 and len(set(fake.connections)) == 5


def test_a_kept_connection_without_an_answer(client, fake):
    """It is not replaced at once: the server has all of the request, and may work on it."""
    over = threading.Event()
    fake.answers[:] = [job(), lambda handler: over.wait(60)]
    made = client.submit("k", witness=b"")
    with pytest.raises(Unreachable, match="no answer in time"):
        made.result(timeout=0.1)
    over.set()
    assert len(fake.requests) == 2


def test_what_did_not_reach_the_server_is_not_repeated(fake):
    client = pm.Client(fake.url, SECRET, retry_for=60)
    fake.answers[:] = [problem(404, "no such key")]
    address = fake.server.server_address
    fake.close()

    def start():
        fake.server.socket = socket.create_server(address)
        threading.Thread(target=fake.server.serve_forever, args=(0.01,), daemon=True).start()

    starting = threading.Timer(0.3, start)
    starting.start()
    with pytest.raises(Refused) as caught:
        client.remove_key("k")
    starting.join()
    assert not caught.value.repeated


def test_idle_connections_are_few_and_fresh(client, fake, monkeypatch):
    together = threading.Barrier(8)

    def answer(handler):
        together.wait(60)
        says([])(handler)

    fake.answers[:] = [answer]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: client.keys(), range(8)))
    assert len(set(fake.connections)) == 8 and len(idle(client)) == 4
    fake.answers[:] = [says([])]
    last = idle(client)[-1]
    client.keys()
    assert idle(client)[-1] is last and len(idle(client)) == 4
    # The others are closed when they are too old, also if they are not needed.
    idle(client)[0].idle_since -= 7200
    client.keys()
    assert idle(client)[-1] is last and len(idle(client)) == 3
    monkeypatch.setattr(_http, "IDLE_SECONDS", -1)
    client.keys()
    assert len(set(fake.connections)) == 9 and last not in idle(client)


def test_many_threads_share_a_client(client, fake):
    fake.answers[:] = [accepting]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda place: client.submit("k", witness=b"%d" % place), range(200)))
    assert len(made) == 200 and len(idle(client)) <= 4
    assert {parts(request)["witness"] for request in fake.requests} == {b"%d" % place for place in range(200)}


def test_close(client, fake):
    fake.answers[:] = [job()]
    with client as same:
        made = same.submit("k", witness=b"")
        assert len(idle(client)) == 1
    assert not idle(client)
    assert made.state == "queued" and not idle(client)
    client.close()


def test_processes_share_no_connection(client, fake, monkeypatch):
    fake.answers[:] = [says([])]
    client.keys()
    copy = pickle.loads(pickle.dumps(client))
    assert len(idle(client)) == 1 and not idle(copy)
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    client.keys()
    assert len(set(fake.connections)) == 2


@pytest.mark.parametrize("url", ["", "localhost:1", "ftp://a", "http://", "http://a:b@localhost", "http://localhost/?a", "http://localhost:99999"])
def test_wrong_urls(url):
    with pytest.raises(ValueError, match="url: expected"):
        pm.Client(url or " ", SECRET)


def test_tokens_are_kept_secret():
    for url in ["http://10.0.0.1:6400", "http://prover.example", "http://localhost.example", "http://127.0.0.1.example"]:
        with pytest.raises(ValueError, match="in plain text"):
            pm.Client(url, SECRET)
        pm.Client(url, SECRET, insecure_http=True)
    for url in ["http://localhost", "http://127.0.0.2:1", "http://[::1]:6400", "https://prover.example"]:
        client = pm.Client(url, SECRET)
        assert SECRET not in repr(client) and url in repr(client)
    for token in ["two words", "new\nline", "é"]:
        with pytest.raises(ValueError, match="token: expected"):
            pm.Client("http://localhost", token)


def test_the_data_folder(tmp_path, monkeypatch):
    for name in ("SERVER", "TOKEN", "DATA", "CA_CERT"):
        monkeypatch.delenv(f"PROOFMILL_{name}", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="is `proofmill serve` running"):
        pm.Client()
    folder = tmp_path / "proofmill/server"
    folder.mkdir(parents=True)
    (folder / "address").write_text("http://127.0.0.1:1234\n")
    with pytest.raises(FileNotFoundError, match="token"):
        pm.Client()
    (folder / "token").write_text(f"{SECRET}\n")
    for client in (pm.Client(), pm.Client("http://127.0.0.1:1234/"), pm.Client(token="another")):
        assert client._service.url == "http://127.0.0.1:1234"
    assert pm.Client()._service._token == SECRET and pm.Client(token="another")._service._token == "another"
    # The administrator's token of this machine is for its own server only.
    with pytest.raises(ValueError, match="token: missing"):
        pm.Client("https://prover.example")
    monkeypatch.setenv("PROOFMILL_SERVER", "https://prover.example")
    with pytest.raises(ValueError, match="token: missing"):
        pm.Client()
    monkeypatch.setenv("PROOFMILL_TOKEN", "of the environment".replace(" ", "_"))
    assert pm.Client()._service._token == "of_the_environment"
    monkeypatch.setenv("PROOFMILL_DATA", str(folder))
    monkeypatch.delenv("PROOFMILL_SERVER")
    assert pm.Client()._service.url == "http://127.0.0.1:1234"


def test_a_path_before_the_interface(fake):
    fake.answers[:] = [says([])]
    assert pm.Client(f"{fake.url}/prover/", SECRET).keys() == []
    assert fake.requests[0][1] == "/prover/v1/keys"


def pump(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def test_a_proxy(fake, tmp_path, monkeypatch):
    """https:// goes through a proxy, which sees the host and nothing else."""
    authority, key = certificate(tmp_path, "prover.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, key)
    fake.server.socket = context.wrap_socket(fake.server.socket, server_side=True)
    fake.answers[:] = [says([])]
    seen = []

    def serve(listener):
        near, _ = listener.accept()
        with near, socket.create_connection(fake.server.server_address) as far:
            while not seen or not seen[0].endswith(b"\r\n\r\n"):
                seen[:] = [b"".join(seen) + near.recv(1 << 16)]
            near.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=pump, args=(far, near))
            back.start()
            pump(near, far)
            back.join()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = threading.Thread(target=serve, args=(listener,))
        proxy.start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with pm.Client("https://prover.test:8443", SECRET, ca_cert=authority) as client:
            assert client.keys() == []
            assert client.keys() == []
        proxy.join()
    assert seen[0].startswith(b"CONNECT prover.test:8443 HTTP/1.") and SECRET.encode() not in seen[0]
    assert fake.requests[0][2]["Host"] == "prover.test:8443"
