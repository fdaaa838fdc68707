"""One proof over many workers: with Ray's on this machine, if it is installed, and without."""

import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import LARGE, SMALL, built, may_skip

import proofmill as pm
from proofmill._ray_command import main
from proofmill._ray_model import Costs, Machine, Shape, costs_of, estimate
from proofmill._ray_prover import allows_insecure_setup, serve
from proofmill.ray import Lost, Prover, StarkProver, Worker, copy_slice, parts_of

KEY, WITNESS = SMALL / "groth16.zkey", SMALL / "witness.wtns"


def values_of(kind):
    return pm.circom.Witness(WITNESS).to_numpy() if kind == "wires" else pm.groth16.quotient(KEY, WITNESS)


def total(parts, worker_of, kinds=("wires", "quotient")):
    sums = [
        pm.groth16.Sums.from_bytes(worker_of(part).sum(kind, part, values_of(kind)[slice(*part.of(kind))]))
        for part in parts
        for kind in kinds
    ]
    return functools.reduce(lambda a, b: a + b, sums)


def worker(source=KEY, folder=None, version=pm.__version__):
    return Worker(version, str(source), folder and str(folder), KEY.stat().st_size, 1)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_have_the_sums_of_the_whole(count):
    [whole] = parts_of(KEY, 1)
    parts, one = parts_of(KEY, count), worker()
    sums = total(parts, lambda part: one)
    assert sums.to_bytes() == total([whole], lambda part: one).to_bytes()
    pm.groth16.assemble(KEY, WITNESS, sums).verify(SMALL / "groth16.vk.json")
    assert pm.groth16.shape(KEY) == (parts[-1].wires[1], parts[-1].domain[1])


def test_wrong_sums_make_no_proof():
    [whole], one = parts_of(KEY, 1), worker()
    good = total([whole], lambda part: one)
    for wrong in (good + good, total([whole], lambda part: one, kinds=["wires"])):
        with pytest.raises(pm.Unsatisfied):
            pm.groth16.assemble(KEY, WITNESS, wrong)
    with pytest.raises(ValueError, match="320 bytes, found 3"):
        pm.groth16.Sums.from_bytes(b"abc")
    with pytest.raises(ValueError, match="off the curve"):
        pm.groth16.Sums.from_bytes(bytes(31) + b"\1" + bytes(288))
    with pytest.raises(pm.Mismatch, match="values 1 to"):
        pm.groth16.Sums.of_wires(KEY, 1, values_of("wires"))
    with pytest.raises(ValueError, match=r"expected shape \(n, 4\)"):
        pm.groth16.Sums.of_wires(KEY, 0, np.zeros(4, np.uint64))


def divide(parts):
    """The pieces of the quotient that each part's worker has in the end."""
    rows, columns = [part.rows for part in parts], [part.columns for part in parts]
    points, one = parts[-1].domain[1], worker()
    held = [[pm.groth16.constraints(KEY, WITNESS)[:, :, slice(*range)].copy()] for range in columns]
    for step, mine, cuts in (("interpolate", columns, rows), ("extend", rows, columns), ("finish", columns, rows)):
        sent = [one.step(step, points, first, cuts, *pieces) for (first, _), pieces in zip(mine, held)]
        assert [results.pop() for results in sent] == [None] * len(parts)
        held = [list(pieces) for pieces in zip(*sent)]
    return held


@pytest.mark.parametrize("count", [1, 2])
def test_parts_divide_the_quotient(count):
    parts = parts_of(KEY, count, divided=True)
    assert [part.domain[0] for part in parts[1:]] == [part.domain[1] for part in parts[:-1]]
    quotient = np.concatenate([np.concatenate(pieces, axis=1).reshape(-1, 4) for pieces in divide(parts)])
    assert (quotient == pm.groth16.quotient(KEY, WITNESS)).all()
    sums = [worker().sum("quotient", part, *pieces) for part, pieces in zip(parts, divide(parts))]
    wires = total(parts, lambda part: worker(), kinds=["wires"])
    for each in sums:
        wires += pm.groth16.Sums.from_bytes(each)
    pm.groth16.assemble(KEY, WITNESS, wires).verify(SMALL / "groth16.vk.json")
    with pytest.raises(ValueError, match="shards: expected 1 to 2 for .* with a divided quotient, found 3"):
        parts_of(KEY, 3, divided=True)


def test_steps_of_the_quotient_take_what_they_expect():
    steps = pm.groth16.DividedQuotient(256)
    assert (steps.rows, steps.columns) == (16, 16) and "16 times 16" in repr(steps)
    values = np.zeros((3, 8, 16, 4), np.uint64)
    assert steps.extend(8, values).shape == (3, 16, 8, 4)
    for first in (1, 4, 16, 2**63):
        with pytest.raises(ValueError, match="first: expected a range below 16 with bounds that 8 divides, found 8 from"):
            steps.extend(first, values)
    for wrong in (values[:2], values[:, :, :8], values[:, :0], values[0]):
        with pytest.raises(ValueError):
            steps.extend(0, wrong.copy())
    with pytest.raises(ValueError, match=r"expected shape \(2, rows, n, 4\), found \(3, 8, 16, 4\)"):
        steps.interpolate(0, values)
    with pytest.raises(ValueError, match=r"expected shape \(3, n, rows, 4\)"):
        steps.finish(0, values[:2].copy())
    with pytest.raises(ValueError, match="values: expected results of the step before, found another value at index 0"):
        steps.extend(0, values - np.uint64(1))
    for points in (0, 1, 32, 100, 1 << 28, 1 << 63):
        with pytest.raises(ValueError, match="points: expected a power of two from 64 to 2\\^27"):
            pm.groth16.DividedQuotient(points)


SYSTEMS = {"plonk": pm.plonk, "fflonk": pm.fflonk}


def commitments_by(parts, path):
    """Commitments as workers make them, one for each part."""
    workers = {part: worker(path) for part in parts}

    def commit(values):
        sums = []
        for part in parts:
            pieces = [values[start:end] for start, end in part.powers if start < len(values)]
            if pieces:
                sums.append(np.frombuffer(workers[part].sum("powers", part, np.concatenate(pieces)), np.uint64))
        return pm.msm.bn254_g1(np.array(sums), np.array([[1, 0, 0, 0]] * len(sums), np.uint64))

    return commit


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", SYSTEMS)
def test_parts_have_the_powers_of_the_whole(name, count):
    system, path = SYSTEMS[name], SMALL / f"{name}.zkey"
    parts = parts_of(path, count)
    begin, end = system.powers(path)
    assert sorted(range for part in parts for range in part.ranges)[0][0] == begin
    assert sum(last - first for part in parts for first, last in part.ranges) == end - begin
    commit, asked = commitments_by(parts, path), []
    proof = system.prove_with_commitments(path, WITNESS, lambda values: asked.append(len(values)) or commit(values))
    proof.verify(SMALL / f"{name}.vk.json")
    assert len(asked) == {"plonk": 9, "fflonk": 4}[name]
    powers = system.Powers(path.read_bytes()[begin:end])
    values = np.zeros((3, 4), np.uint64)
    values[:, 0] = 1, 2, 3
    assert (powers.sum(0, values) == commit(values)).all()


@pytest.mark.parametrize("name", SYSTEMS)
def test_wrong_commitments_make_no_proof(name):
    system, path = SYSTEMS[name], SMALL / f"{name}.zkey"
    generator = np.array([1, 0, 0, 0, 2, 0, 0, 0], np.uint64)
    with pytest.raises(pm.Unsatisfied):
        system.prove_with_commitments(path, WITNESS, lambda values: generator)
    for wrong, kind, match in (
        (generator + np.uint64(1), ValueError, "commitment: expected a point of BN254's G1"),
        (generator[:4].copy(), ValueError, r"commitment: expected shape \(8,\)"),
        (None, TypeError, "commitment: expected a NumPy array"),
    ):
        with pytest.raises(kind, match=match):
            system.prove_with_commitments(path, WITNESS, lambda values, wrong=wrong: wrong)

    def lost(values):
        raise Lost("all of them")

    with pytest.raises(Lost, match="all of them"):
        system.prove_with_commitments(path, WITNESS, lost)
    begin, end = system.powers(path)
    for bad in (path.read_bytes()[begin + 1 : end], path.read_bytes()[begin : end - 1]):
        with pytest.raises(pm.Malformed, match="powers of tau: expected points"):
            system.Powers(bad)
    powers = system.Powers(path.read_bytes()[begin : begin + 128])
    with pytest.raises(pm.Mismatch, match="expected at most 2 powers of tau, found 2 coefficients from 1 on"):
        powers.sum(1, np.zeros((2, 4), np.uint64))


def test_keys_are_told_apart(tmp_path):
    with pytest.raises(pm.Malformed, match="witness.wtns"):
        parts_of(WITNESS, 1)
    with pytest.raises(ValueError, match="divided: only the quotient of a Groth16 key"):
        Prover(SMALL / "plonk.zkey", shards=1, divided=True)


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_a_key_has_as_many_parts_as_wires_at_most(count):
    for key in (KEY, SMALL / "plonk.zkey"):
        with pytest.raises(ValueError, match="shards: expected 1 to"):
            parts_of(key, count)


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A store of objects: ranges of one file."""

    honours_ranges = True

    def do_GET(self):
        content = KEY.read_bytes()
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        piece = content[int(first) : int(last) + 1] if self.honours_ranges else content
        self.send_response(206 if self.honours_ranges else 200)
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def store():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/key.zkey?signature=secret"
        server.shutdown()


def test_slices_are_copied_from_paths_and_urls(tmp_path, monkeypatch):
    parts = parts_of(KEY, 3)
    with store() as url:
        for source in (str(KEY), url):
            workers = {part: worker(source, tmp_path) for part in parts}
            sums = total(parts, workers.get)
            assert sums.to_bytes() == total(parts, lambda part: worker()).to_bytes()
            held = [os.pread(workers[part].file, KEY.stat().st_size, 0) for part in parts]
            whole = KEY.read_bytes()
            for part, copy in zip(parts, held):
                assert len(copy) == len(whole) and copy != whole
                assert all(copy[start:end] == whole[start:end] for start, end in part.ranges)
                assert hashlib.sha256(b"".join(copy[start:end] for start, end in part.ranges)).hexdigest() == part.digest
        monkeypatch.setattr(Ranges, "honours_ranges", False)
        with pytest.raises(OSError, match="does not support ranges: status 200") as error:
            worker(url, tmp_path).ready(parts[0])
        assert "secret" not in str(error.value)
    with pytest.raises(OSError):
        worker(url, tmp_path).ready(parts[0])
    assert list(tmp_path.iterdir()) == []


def test_other_keys_are_refused(tmp_path):
    part = parts_of(KEY, 2)[1]
    changed = bytearray(KEY.read_bytes())
    changed[part.ranges[-1][1] - 1] ^= 1
    (tmp_path / "changed.zkey").write_bytes(changed)
    (tmp_path / "short.zkey").write_bytes(changed[:1000])
    for name in ("changed", "short"):
        with pytest.raises(pm.Mismatch, match=rf"{name}\.zkey on .*: not the key of the head"):
            worker(tmp_path / f"{name}.zkey").ready(part)
    with pytest.raises(pm.Mismatch, match="not the key of the head"):
        worker(tmp_path / "changed.zkey", tmp_path).ready(part)
    with pytest.raises(OSError, match="expected bytes"), open(tmp_path / "copy", "w+b") as copy:
        copy_slice(str(tmp_path / "short.zkey"), part, KEY.stat().st_size, copy.fileno())
    with pytest.raises(FileNotFoundError, match=f"No such file or directory on {os.uname().nodename}: '.*none.zkey'"):
        worker(tmp_path / "none.zkey").ready(part)
    with pytest.raises(pm.Mismatch, match="install the same version"):
        worker(version="0.0.0").ready(part)


RATES = """family,benchmark,implementation,size,threads,run,samples,median_s,min_s,peak_mb,others_share
msm,bn254-g1,portable,2^16,1,1,6,0.05,0.05,,0.00
msm,bn254-g1,portable,2^20,1,1,6,1.048576,1.0,,0.00
msm,bn254-g2,portable,2^16,1,1,6,0.196608,0.1,,0.00
ntt,bn254-fr,portable,2^20,1,1,6,0.0209715,0.02,,0.00
ntt,bn254-fr,arkworks,2^20,1,1,6,0.000001,0.0,,0.00
"""


@pytest.fixture
def rates(tmp_path):
    (tmp_path / "rates.csv").write_text(RATES)
    return str(tmp_path / "rates.csv")


def test_costs_are_those_of_the_largest_size(rates):
    costs = costs_of(pm.bench.load(rates))
    assert (costs.g1, costs.g2, costs.layer) == pytest.approx((1e-6, 3e-6, 1e-9), rel=1e-4)
    with pytest.raises(pm.Error, match="no result of msm/bn254-g1 on one thread: `proofmill bench run"):
        costs_of(pm.bench.load(rates).select(family="ntt"))


def test_the_model_adds_up():
    """By hand: 16 seconds of cores for the sums over 2^20 wires, 2 for H, 2 for 6 transforms of 20 layers."""
    million = 1 << 20
    costs = Costs(2 / million, 10 / million, 2 / (6 * 20 * million))
    machine = Machine(cores=2, link_bytes=32.0 * million, price=3600.0, sums_share=1.0, transforms_share=0.5)
    one, two, many = (estimate(Shape(million, million), costs, machine, nodes) for nodes in (1, 2, 1000))
    rest = 0.04 * 18 / 2 + 0.01
    assert one.seconds == pytest.approx(8 + 2 + 1 + rest)
    # The head is the last: its wires and the quotient; half of the values are sent at a million a second.
    assert two.seconds == pytest.approx(4 + 2 + 0.5 + 0.5 + rest)
    assert two.dollars == pytest.approx(2 * two.seconds) and one.dollars == pytest.approx(one.seconds)
    assert two.wire_bytes == 32 * million and one.wire_bytes == 0
    # Many nodes wait for the quotient and for the values.
    assert many.seconds == pytest.approx(2 + 1 + rest, abs=0.02)
    assert one.node_bytes == pytest.approx(2 * two.node_bytes, rel=1e-6) and many.head_bytes > 128 * million
    # Divided, two compute for longer than they send; many wait for three times as many values from the head.
    two, many = (estimate(Shape(million, million), costs, machine, nodes, divided=True) for nodes in (2, 1000))
    assert two.divided and two.seconds == pytest.approx(4 + 1 + 0.5 + rest)
    assert two.wire_bytes == (1 + 2 + 7) * 16 * million
    assert many.seconds == pytest.approx(3 + rest, abs=0.02)


def test_plan(rates, capsys):
    words = ["plan", "--nodes", "5", "--cores", "16", "--link", "25Gb", "--runs", rates]
    assert main([*words, "--size", "2^24", "--price-per-hour", "0.5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["nodes"] for row in report["estimates"]] == [1, 2, 4, 5]
    assert (report["cheapest"], report["fastest"]) == (1, 5) and report["machine"]["link_bytes"] == 25e9 / 8
    assert main([*words, "--key", str(KEY)]) == 0
    shown = capsys.readouterr().out
    assert "  head " in shown and shown.startswith(f"{pm.groth16.shape(KEY)[0]} wires") and "cheapest: 1 node; fastest:" in shown and "dollars" not in shown
    for wrong in (["--size", "2^28"], ["--size", "2^20", "--link", "5"], ["--size", "2^20", "--cores", "0"], ["--size", "2^20", "--sums-share", "2"], []):
        with pytest.raises(SystemExit, match="2"):
            main([*words, *wrong])
    assert main([*words, "--key", str(WITNESS)]) == 2
    assert "error: " in capsys.readouterr().err


def test_no_insecure_setup_by_accident(monkeypatch):
    monkeypatch.delenv("PROOFMILL_ALLOW_INSECURE_SETUP", raising=False)
    assert not allows_insecure_setup()
    for value, allows in {"": False, "0": False, "n": False, "No": False, "f": False, "False": False, "OFF": False, "1": True, "yes": True}.items():
        monkeypatch.setenv("PROOFMILL_ALLOW_INSECURE_SETUP", value)
        assert allows_insecure_setup() is allows


# The rest needs Ray. It replaces 127.0.0.1 by the host's address, so that a firewall may make it hang: .ci/python.sh runs this file where
# there is nothing but a loopback.


@pytest.fixture(scope="module")
def cluster():
    """A head without CPUs and two nodes of one, with the settings that docs/scale.md advises."""
    if not os.environ.get("PROOFMILL_TEST_RAY"):
        pytest.skip("PROOFMILL_TEST_RAY is not set")
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32), RAY_USAGE_STATS_ENABLED="0")
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": 80 << 20, "_system_config": {"automatic_object_spilling_enabled": False}}

    def start():
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            cluster.nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(2)]
        except Exception:
            cluster.shutdown()
            raise
        return cluster

    # Ray gives a node 30 s to start, however busy the machine is: the start is repeated, no test is.
    for attempt in range(3):
        try:
            cluster = start()
            break
        except Exception as error:
            if attempt == 2 or "timed out during startup" not in str(error):
                raise
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def pids(prover):
    import ray

    return ray.get([actor.handle.__ray_call__.remote(lambda worker: os.getpid()) for actor in prover._actors])


@pytest.mark.parametrize("divided", [False, True])
def test_proofs_of_a_cluster(cluster, tmp_path, divided):
    with Prover(KEY, shards=2, folder=tmp_path, divided=divided) as prover:
        assert prover._sums(pm.circom.Witness(WITNESS)).to_bytes() == total(parts_of(KEY, 1), lambda part: worker()).to_bytes()
        for witness in (WITNESS, WITNESS.read_bytes(), pm.circom.Witness(WITNESS)):
            proof = prover.prove(witness)
            proof.verify(SMALL / "groth16.vk.json")
            proof.verify()
        wrong = values_of("wires")
        wrong[-1, 0] ^= np.uint64(1)
        with pytest.raises(pm.Unsatisfied):
            prover.prove(pm.circom.Witness.from_numpy(wrong))
        with pytest.raises(pm.Mismatch, match="wires"):
            prover.prove(pm.circom.Witness.from_numpy(wrong[:-1]))
    with pytest.raises(ValueError, match="closed"):
        prover.prove(WITNESS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_commitments_of_a_cluster(cluster, tmp_path, name):
    path = SMALL / f"{name}.zkey"
    for folder in (None, tmp_path):
        with Prover(path, shards=2, folder=folder) as prover:
            for number in range(3):
                if number == 2:
                    os.kill(pids(prover)[0], signal.SIGKILL)
                proof = prover.prove(WITNESS)
                assert isinstance(proof, SYSTEMS[name].Proof)
                proof.verify(SMALL / f"{name}.vk.json")
            wrong = values_of("wires")
            wrong[-1, 0] ^= np.uint64(1)
            with pytest.raises(pm.Unsatisfied):
                prover.prove(pm.circom.Witness.from_numpy(wrong))
    with pytest.raises(ValueError, match="closed"):
        prover.prove(WITNESS)


@pytest.mark.parametrize("divided", [False, True])
def test_the_store_is_freed(cluster, divided):
    """Values of a witness, of more than the 100 kB up to which Ray keeps values elsewhere."""
    import ray

    def used():
        name = "object_store_memory"
        return ray.cluster_resources()[name] - ray.available_resources().get(name, 0)

    def until(condition):
        limit = time.monotonic() + 20
        while not condition() and time.monotonic() < limit:
            time.sleep(0.1)
        assert condition()

    with Prover(LARGE / "circuit.zkey", shards=2, divided=divided, allow_insecure_setup=True) as prover:
        held = ray.put(np.zeros(1 << 20, np.uint8))
        until(lambda: used() >= 1 << 20)
        del held
        prover.prove(LARGE / "witness.wtns")
        until(lambda: used() < 1 << 10)


def test_the_command(cluster, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("proof.json", "public.json")]
    assert main(["prove", str(KEY), str(WITNESS), *files, "--shards", "2"]) == 0
    pm.groth16.Proof.open(*files).verify(SMALL / "groth16.vk.json")
    wrong = values_of("wires")
    wrong[-1, 0] ^= np.uint64(1)
    pm.circom.Witness.from_numpy(wrong).save(tmp_path / "wrong.wtns")
    assert main(["prove", str(KEY), str(tmp_path / "wrong.wtns"), *files, "--shards", "2"]) == 1
    assert main(["prove", str(KEY), str(tmp_path / "none.wtns"), *files, "--shards", "2"]) == 2
    assert capsys.readouterr().err.count("error: ") == 2


def ask(requests, tmp_path):
    """The replies of ``proofmill ray prover`` to requests."""
    said = io.StringIO()
    for number, request in enumerate(requests):
        request.setdefault("outputs", str(tmp_path / str(number)))
        (tmp_path / str(number)).mkdir()
    serve((json.dumps(request) + "\n" for request in requests), said, 2, 1)
    return [json.loads(line) for line in said.getvalue().splitlines()]


def test_the_prover_of_a_worker(cluster, tmp_path):
    keys = {"k": str(KEY), "p": str(SMALL / "circuit.wasm")}
    wrong = values_of("wires")
    wrong[-1, 0] ^= np.uint64(1)
    pm.circom.Witness.from_numpy(wrong).save(tmp_path / "wrong.wtns")
    tasks = [
        ({"type": "prove", "key": "k"}, {"witness": str(WITNESS)}),
        ({"type": "prove", "key": "k", "program": "p"}, {"signals": str(SMALL / "input.json")}),
        ({"type": "prove", "key": "k"}, {"witness": str(tmp_path / "wrong.wtns")}),
        ({"type": "prove", "key": "k"}, {"witness": str(SMALL / "circuit.wasm")}),
        ({"type": "verify", "key": "k"}, {}),
        ({"type": "prove", "key": "k"}, {"witness": str(tmp_path / "none.wtns")}),
    ]
    replies = ask([{"request": "execute", "task": task, "keys": keys, "inputs": inputs} for task, inputs in tasks], tmp_path)
    assert replies[0]["reply"] == "ready" and replies[0]["version"] == pm.__version__ and replies[0]["threads"] == 2
    done = [reply for reply in replies[1:] if reply["reply"] != "phase"]
    assert [reply["reply"] for reply in done] == ["finished"] * 2 + ["failed"] * 4
    for number in range(2):
        proof, public = ((tmp_path / str(number) / name).read_text() for name in ("proof", "public"))
        pm.groth16.Proof.from_json(proof, json.loads(public)).verify(SMALL / "groth16.vk.json")
    phases = [[phase["name"] for phase in reply["phases"]] for reply in done[:2]]
    assert phases[0] == ["divide key", "read witness", "prove on the cluster", "write proof"]
    assert phases[1] == ["calculate witness", "prove on the cluster", "write proof"]
    assert [reply["transient"] for reply in done[2:]] == [False, False, False, True]
    assert done[3]["message"].startswith("witness: ") and str(tmp_path) not in done[5]["message"]
    assert "a job of type verify cannot be divided" in done[4]["message"]


def test_requests_that_are_none(capsys):
    said = io.StringIO()
    serve(["", "{", "[]", "{}", '{"request": "execute"}', '{"request": "inspect", "path": "/"}'], said, 2, 1)
    replies = [json.loads(line) for line in said.getvalue().splitlines()][1:]
    assert [(reply["reply"], reply["transient"]) for reply in replies] == [("failed", False)] * 6


def test_a_job_that_is_too_large_for_the_server_goes_to_the_cluster(cluster, tmp_path):
    programs = [built("proofmill-server"), built("proofmill")]
    if may_skip(*programs):
        pytest.skip("proofmill-server and proofmill are not built")
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "PROOFMILL_LOG": "warn"}
    with contextlib.ExitStack() as stack:

        def start(*command):
            log = stack.enter_context(open(tmp_path / command[0], "w+"))
            process = subprocess.Popen([programs[0], *command], stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        # Enough for no proof.
        server = start("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--memory", "1M")
        url = server.stdout.readline().strip()
        client = pm.Client(url, (tmp_path / "data/token").read_text().strip())
        client.add_key(KEY, name="circuit")
        job = client.submit("circuit", witness=WITNESS)
        assert "needs 0.0 GiB of memory" in client.job(job.id).view["obstacle"]
        divide = shutil.which("proofmill-ray", path=Path(sys.executable).parent)
        arguments = ["--server", url, "--data", tmp_path / "data", "--keys", tmp_path / "keys", "--cluster", "--memory", "1G"]
        start("worker", *arguments, "--program", divide, "--program-argument=--shards=2")
        proof = pm.groth16.Proof.from_json(*job.result(timeout=120))
        proof.verify(SMALL / "groth16.vk.json")
        assert [phase["name"] for phase in job.view["finished"]["phases"]][-2:] == ["prove on the cluster", "write proof"]
        # What cannot be divided stays.
        verification = client.submit("circuit", proof=proof, public=proof.public)
        with pytest.raises(TimeoutError):
            verification.result(timeout=2)


@pytest.mark.parametrize("divided", [False, True])
def test_kills(cluster, divided):
    with Prover(KEY, shards=2, divided=divided) as prover:
        for number in range(4):
            os.kill(pids(prover)[number % 2], signal.SIGKILL)
            prover.prove(WITNESS).verify()
        # A worker that does not answer: the other one sums its part.
        stopped = pids(prover)[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            prover.prove(WITNESS).verify()
        finally:
            os.kill(stopped, signal.SIGCONT)


@pytest.mark.parametrize("shards", [1, 2])
def test_starks_of_a_cluster(cluster, air, trace, shards):
    public = [0, 1, int(trace[-1, 1])]
    expected = air.prove(trace, public, hash="poseidon2").to_bytes()
    with StarkProver(air.to_json().encode(), shards, hash="poseidon2") as prover:
        for number in range(4):
            if number == 2:
                os.kill(pids(prover)[-1], signal.SIGKILL)
            assert prover.prove(trace, public).to_bytes() == expected
        changed = trace.copy()
        changed[100, 1] += 1
        with pytest.raises(pm.Unsatisfied, match="row 99"):
            prover.prove(changed, public)
        with pytest.raises(pm.Mismatch):
            prover.prove(trace, public[:2])
        if shards == 2:
            # A worker that does not answer: the other one extends the trace.
            stopped = pids(prover)[0]
            os.kill(stopped, signal.SIGSTOP)
            try:
                assert prover.prove(trace, public).to_bytes() == expected
            finally:
                os.kill(stopped, signal.SIGCONT)
    with pytest.raises(ValueError, match="closed"):
        prover.prove(trace, public)
    for wrong in (0, 9):
        with pytest.raises(ValueError, match=f"shards: expected 1 to 8, the cosets of an extended trace, found {wrong}"):
            StarkProver(air, wrong)


def test_a_worker_with_another_key(cluster, tmp_path):
    changed = bytearray(KEY.read_bytes())
    changed[-2000] ^= 1
    (tmp_path / "changed.zkey").write_bytes(changed)
    with pytest.raises(pm.Mismatch, match="not the key of the head"):
        Prover(KEY, shards=2, source=tmp_path / "changed.zkey")
    with pytest.raises(FileNotFoundError):
        Prover(KEY, shards=2, source=tmp_path / "none.zkey")


def test_too_few_resources(cluster):
    with pytest.raises(Lost, match="of 3 workers did not start: 3 nodes are alive, with 0 free CPUs"):
        Prover(KEY, shards=3, patience=5)


def test_a_node_is_lost(cluster):
    """The last test: it takes the nodes away."""
    with Prover(KEY, shards=2, patience=8, divided=True) as prover:
        cluster.remove_node(cluster.nodes[0], allow_graceful=False)
        # The other node's worker sums everything.
        prover.prove(WITNESS).verify()
        cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
        prover.prove(WITNESS).verify()
        time.sleep(1)
        for node in list(cluster.worker_nodes):
            cluster.remove_node(node, allow_graceful=False)
        with pytest.raises(Lost, match="no worker has answered for"):
            prover.prove(WITNESS)
