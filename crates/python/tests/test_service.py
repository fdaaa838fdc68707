"""The client against the real service: ``proofmill-server``, which PROOFMILL_SERVER_PROGRAM names or which is built next to the tests."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import ROOT, SMALL, built, certificate, may_skip

import proofmill as pm
from proofmill import _http
from proofmill.client import JobCancelled, JobExpired, JobFailed, Refused, Unreachable

FIBONACCI = ROOT / "crates/stark/tests/data/fibonacci.json"


def program():
    return built("proofmill-server")


pytestmark = pytest.mark.skipif(may_skip(program()), reason="proofmill-server is not built: PROOFMILL_SERVER_PROGRAM names it")


class Server:
    """A server with a data folder, on a port that it keeps when it starts again."""

    def __init__(self, folder, *options):
        self.data, self.options, self.address = folder / "data", options, "127.0.0.1:0"
        self.log = folder / "log"
        self.start()

    def start(self):
        command = [program(), "serve", "--listen", self.address, "--data", self.data, *self.options]
        environment = {**os.environ, "PROOFMILL_LOG": "warn"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.log.read_text()
        self.address = f"127.0.0.1:{self.url.rpartition(':')[2]}"
        self.token = (self.data / "token").read_text().strip()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(60)
        self.process.stdout.close()


@contextlib.contextmanager
def serving(folder, *options):
    server = Server(folder, *options)
    try:
        yield server
    finally:
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as server:
        client = pm.Client(server.url, server.token)
        for name, file in {"circuit": "groth16.zkey", "circuit.wasm": "circuit.wasm", "circuit.vk": "groth16.vk.json"}.items():
            client.add_key(SMALL / file, name=name)
        client.add_key(FIBONACCI, name="fibonacci")
        yield server


@pytest.fixture
def client(server):
    return pm.Client(server.url, server.token)


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A server without a worker: its jobs wait."""
    with serving(tmp_path_factory.mktemp("idle"), "--no-worker", "--drain-timeout", "1s") as server:
        pm.Client(server.url, server.token).add_key(SMALL / "groth16.zkey", name="circuit")
        yield server


def test_a_proof(client, monkeypatch, server):
    monkeypatch.setenv("PROOFMILL_DATA", str(server.data))
    for name in ("PROOFMILL_SERVER", "PROOFMILL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    job = pm.Client().submit("circuit", witness=SMALL / "witness.wtns", timeout=60, attempts=2, expires=600)
    proof = pm.groth16.Proof.from_json(*job.result(timeout=30))
    proof.verify(SMALL / "groth16.vk.json")
    assert proof.public_json() == pm.groth16.Proof.open(SMALL / "groth16.proof.json", SMALL / "public.json").public_json()
    assert job.state == "done" and client.job(job.id).result() == job.result()
    assert job.id in [one.id for one in client.jobs(state="done")]


def test_from_signals(client):
    by_path = client.submit("circuit", program="circuit.wasm", signals=SMALL / "input.json")
    by_text = client.submit("circuit", program="circuit.wasm", signals=(SMALL / "input.json").read_text())
    for job in (by_path, by_text):
        pm.groth16.Proof.from_json(*job.result(timeout=30)).verify(SMALL / "groth16.vk.json")
    with pytest.raises(JobFailed):
        client.submit("circuit", program="circuit.wasm", signals={"secret": 2**100}).result(timeout=30)


def test_verification(client):
    proof = pm.groth16.Proof.open(SMALL / "groth16.proof.json", SMALL / "public.json")
    for key in ("circuit", "circuit.vk"):
        assert client.submit(key, proof=proof, public=proof.public).result(timeout=30) == (None, None)
    job = client.submit("circuit", proof=SMALL / "groth16.proof.json", public=[1] * len(proof.public))
    with pytest.raises(JobFailed, match="the job is failed: ") as caught:
        job.result(timeout=30)
    assert caught.value.job is job


def test_a_stark(client):
    rows = [(0, 1)]
    while len(rows) < 512:
        rows.append((rows[-1][1], sum(rows[-1]) % pm.goldilocks.MODULUS))
    trace = np.array(rows, dtype=np.uint64)
    public = [0, 1, int(trace[-1, 1])]
    result = client.submit("fibonacci", trace=trace, public=public, hash="poseidon2").result(timeout=30)
    pm.stark.Proof(result.proof).verify(pm.stark.Air(FIBONACCI), public, hash="poseidon2", rows=512)
    with pytest.raises(JobFailed):
        client.submit("fibonacci", trace=trace, public=[0, 1, 2]).result(timeout=30)


def test_signatures(client):
    secrets = [pm.bls.keygen() for _ in range(2)]
    sets = [([pm.bls.public_key(secret)], b"message", pm.bls.sign(secret, b"message")) for secret in secrets]
    client.submit(sets=sets).result(timeout=30)
    with pytest.raises(JobFailed):
        client.submit(sets=[(sets[0][0], b"message", sets[1][2])]).result(timeout=30)


def test_a_malformed_witness_fails(client):
    with pytest.raises(JobFailed) as caught:
        client.submit("circuit", witness=b"no witness").result(timeout=30)
    assert caught.value.job.view["attempts"] == 1
    with pytest.raises(Refused):
        caught.value.job.retry()


def test_idempotency(client):
    first, again = (client.submit("circuit", witness=SMALL / "witness.wtns", idempotency_key="one") for _ in range(2))
    assert first.id == again.id
    with pytest.raises(Refused) as caught:
        client.submit("circuit", witness=b"another", idempotency_key="one")
    assert caught.value.status == 422


def test_a_batch(client, tmp_path):
    proof = pm.groth16.Proof.open(SMALL / "groth16.proof.json", SMALL / "public.json")
    spaced = tmp_path / "input.json"
    spaced.write_text(f" {(SMALL / 'input.json').read_text()}\n\n")
    proving = {"key": "circuit", "program": "circuit.wasm", "timeout": 60}
    jobs = [{**proving, "signals": path} for path in (SMALL / "input.json", spaced)]
    jobs.append({"key": "circuit", "witness": SMALL / "witness.wtns"})
    jobs += [{"key": "circuit.vk", "proof": proof, "public": public} for public in (proof.public, [1] * len(proof.public))]
    made = client.submit_all(jobs, idempotency_key="batch")
    for job in made[:3]:
        pm.groth16.Proof.from_json(*job.result(timeout=30)).verify(SMALL / "groth16.vk.json")
    assert made[3].result(timeout=30) == (None, None)
    with pytest.raises(JobFailed):
        made[4].result(timeout=30)
    assert [job.id for job in client.submit_all(jobs, idempotency_key="batch")] == [job.id for job in made]
    assert [client.submit(**job, idempotency_key=f"batch.{place}").id for place, job in enumerate(jobs) if place != 1] == [
        job.id for place, job in enumerate(made) if place != 1
    ]
    # What is no JSON fails as it does without a batch, and does no harm to the others.
    broken = [jobs[0], {**proving, "signals": b"{"}, {**jobs[3], "key": "none"}, {**jobs[3], "public": b"["}, jobs[3]]
    with pytest.raises(Refused, match=r"^jobs\[2\]: ") as caught:
        client.submit_all(broken)
    first, unreadable, refused, unread, last = caught.value.answers
    assert refused.status == 404
    assert [job.wait(30) for job in (first, unreadable, unread, last)] == ["done", "failed", "failed", "done"]


def test_a_batch_is_as_large_as_the_service_permits(idle):
    client = pm.Client(idle.url, idle.token)
    made = client.submit_all([{"sets": []}] * (pm.client.MOST_BATCH_JOBS + 1))
    assert len({job.id for job in made}) == len(made)
    # With a string of this length, a job has exactly the most bytes.
    most = pm.client.MOST_JSON_BYTES
    length = most - len(pm.client.numbered(0, {"sets": b'[""]'}, "x").in_batch()[1])
    texts = [b'["%b"]' % (b"x" * (length + more)) for more in (0, 1)]
    alone = [pm.client.numbered(0, {"sets": text}, "x").in_batch() is None for text in texts]
    assert alone == [False, True]
    assert len(client.submit_all([{"sets": text} for text in [texts[0]] * 17 + [texts[1]]], idempotency_key="x")) == 18


@pytest.fixture
def opened(monkeypatch):
    """Connections that were opened. However slow the test is, they are not too old for another request."""
    monkeypatch.setattr(_http, "IDLE_SECONDS", 3600)
    found, connect = [], _http.http.client.HTTPConnection.connect

    def counted(connection):
        found.append(connection)
        connect(connection)

    monkeypatch.setattr(_http.http.client.HTTPConnection, "connect", counted)
    return found


def test_connections_are_kept(client, opened):
    for _ in range(10):
        client.submit("circuit", witness=SMALL / "witness.wtns").wait(30)
        with pytest.raises(Refused):
            client.job("0" * 32)
    assert len(opened) == 1
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: client.submit("circuit", witness=SMALL / "witness.wtns"), range(40)))
        assert {job.result(timeout=60).public[0] for job in made} == {made[0].result().public[0]}
    assert len(opened) <= 4


def test_connections_survive_another_start_of_the_server(tmp_path, opened):
    with serving(tmp_path, "--no-worker") as server, pm.Client(server.url, server.token) as client:
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            assert client.keys() == [] and client.keys() == []
            server.stop(number)
            server.start()
        assert client.keys() == [] and len(opened) == 4


FORK = """
import os, sys
import proofmill as pm

client = pm.Client(sys.argv[1], sys.argv[2])
count = len(client.keys())
children = []
for _ in range(4):
    children.append(os.fork())
    if not children[-1]:
        os._exit(any(len(client.keys()) != count for _ in range(20)))
    assert all(len(client.keys()) == count for _ in range(20))
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork(server):
    subprocess.run([sys.executable, "-c", FORK, server.url, server.token], check=True, timeout=120)


def test_keys(client):
    found = {key.name: key for key in client.keys()}
    assert found["circuit"].kind == "groth16" and found["circuit"].bytes == (SMALL / "groth16.zkey").stat().st_size
    key = client.add_key(str(SMALL / "plonk.zkey"))
    assert key.kind == "plonk" and key.name is None
    assert client.add_key(SMALL / "plonk.zkey", name="plonk").name == "plonk"
    result = client.submit(key, witness=SMALL / "witness.wtns").result(timeout=30)
    pm.plonk.Proof.from_json(*result).verify(SMALL / "plonk.vk.json")
    client.remove_key(key)
    with pytest.raises(Refused, match="plonk"):
        client.submit("plonk", witness=b"")
    with pytest.raises(Refused) as caught:
        client.add_key(b"no key", name="none")
    assert caught.value.status == 400


def test_refusals(client, server, tmp_path):
    with pytest.raises(Refused) as caught:
        client.submit("none", witness=b"")
    assert caught.value.status == 404
    with pytest.raises(Refused) as caught:
        client.job("0" * 32)
    assert caught.value.status == 404
    with open(tmp_path / "large", "wb") as file:
        file.truncate(64 << 20)
    with pytest.raises(Refused, match="with a valid token") as caught:
        pm.Client(server.url, "wrong").submit("circuit", witness=tmp_path / "large")
    assert caught.value.status == 401


def test_waiting(idle):
    client = pm.Client(idle.url, idle.token)
    job = client.submit("circuit", witness=SMALL / "witness.wtns")
    with pytest.raises(TimeoutError):
        job.result(timeout=0.2)
    assert job.state == "queued"
    events = job.events()
    assert next(events)["state"] == "queued"
    threading.Timer(0.2, job.cancel).start()
    assert next(events)["state"] == "cancelled"
    assert list(events) == []
    with pytest.raises(JobCancelled):
        job.result()
    job.cancel()
    with pytest.raises(Refused):
        job.retry()
    with pytest.raises(JobExpired):
        client.submit("circuit", witness=SMALL / "witness.wtns", expires=1).result(timeout=30)


def test_the_server_is_killed_and_starts_again(tmp_path):
    with serving(tmp_path, "--lease", "1s") as server:
        client = pm.Client(server.url, server.token)
        client.add_key(SMALL / "groth16.zkey", name="circuit")
        server.stop(signal.SIGKILL)
        starting = threading.Timer(0.5, server.start)
        starting.start()
        jobs = [client.submit("circuit", witness=SMALL / "witness.wtns") for _ in range(3)]
        starting.join()
        server.stop(signal.SIGKILL)
        starting = threading.Timer(0.5, server.start)
        starting.start()
        proofs = [pm.groth16.Proof.from_json(*job.result(timeout=60)) for job in jobs]
        starting.join()
        for proof in proofs:
            proof.verify(SMALL / "groth16.vk.json")
        assert len(list(client.jobs())) == 3


def test_tls(tmp_path, opened):
    authority, key = certificate(tmp_path, "localhost")
    with serving(tmp_path, "--tls-cert", authority, "--tls-key", key, "--no-worker") as server:
        client = pm.Client(server.url, server.token, ca_cert=authority)
        client.add_key(SMALL / "groth16.zkey", name="circuit")
        job = client.submit("circuit", witness=SMALL / "witness.wtns")
        assert job.state == "queued" and next(job.events())["state"] == "queued"
        # The first ended with the stream of events.
        assert client.keys() and len(opened) == 2
        with pytest.raises(Unreachable, match="the certificate is not trusted"):
            pm.Client(server.url, server.token).keys()
        with pytest.raises(Unreachable, match="not trusted"):
            pm.Client(server.url.replace("localhost", "127.0.0.1"), server.token, ca_cert=authority).keys()
        with pytest.raises(Unreachable):
            pm.Client(server.url.replace("https", "http"), server.token, retry_for=0.1).keys()
