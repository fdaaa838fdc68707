#!/usr/bin/env python3
"""figures.py: measures the service against a loop in one process and against rapidsnark's proverServer.

Times a job with its answer, and proofs per second, in alternation with the same proofs in a loop without service (the example `prove_loop`);
empty jobs per second; memory. Adds lines to a CSV record. Keys may be of an insecure setup. It needs a quiet machine, release builds
and Python's standard library:

    cargo build --release -p proofmill-cli -p proofmill-server && cargo build --release -p proofmill --example prove_loop
    service/figures.py --key squares.zkey --witness squares.wtns --record lab/records/service.csv

Against a proverServer, of iden3's rapidsnark, started by a command in which {port} is replaced, with `squares.wasm` and `squares.json` for the same circuit:

    service/figures.py --key squares.zkey --program squares.wasm --signals squares.json --peer 'proverServer {port} squares.zkey' ...
"""

import argparse
import csv
import datetime
import hashlib
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from campaign import BOUNDARY, ROOT, cpu, form, free_port

# The circuit's name for the service and for proverServer.
CIRCUIT = "squares"


class Client:
    """Requests over one connection."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, method, path, body=None, headers={}):
        self.connection.request(method, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        content = answer.read()
        if not 200 <= answer.status < 300:
            raise SystemExit(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content

    def json(self, *arguments):
        return json.loads(self.ask(*arguments))


class Server:
    """A service with its data in a new folder."""

    def __init__(self, options, *arguments):
        self.folder = Path(tempfile.mkdtemp(prefix="figures-"))
        self.port = free_port()
        data = self.folder / "data"
        command = [options.bin / "proofmill-server", "serve", "--listen", f"127.0.0.1:{self.port}", "--data", data, *arguments]
        command += ["--program-argument=--allow-insecure-setup"]
        if options.store:
            empty(options.store)
            command += ["--store", options.store]
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        until_answers(self.port, "/readyz")
        self.token = (data / "token").read_text().strip()

    def client(self):
        return Client(self.port, self.token)

    def add(self, name, path):
        content = path.read_bytes()
        self.client().ask("PUT", f"/v1/keys/{hashlib.sha256(content).hexdigest()}?name={name}", content)

    def processes(self):
        """The numbers of the server's process and of its provers'."""
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [self.process.pid] + [int(word) for path in children for word in path.read_text().split()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()
        shutil.rmtree(self.folder)


class Loop:
    """The loop in one process."""

    def __init__(self, options):
        command = [options.loop, options.key, options.witness]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, count, side_by_side, threads):
        self.process.stdin.write(f"{count} {side_by_side} {threads}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("prove_loop ended")
        return float(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)


def until_answers(port, path):
    end = time.monotonic() + 30
    while True:
        try:
            return Client(port).ask("GET", path)
        except OSError:
            if time.monotonic() > end:
                raise SystemExit(f"nothing answers on port {port}") from None
            time.sleep(0.02)


def empty(url):
    """Empties a PostgreSQL database."""
    subprocess.run(["psql", url, "-Xq", "-c", "DROP SCHEMA public CASCADE; CREATE SCHEMA public"], check=True, stderr=subprocess.DEVNULL)


def pss_mb(process):
    """The memory of a process; of what it shares with others, its part."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1000


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def prove(client, witness):
    """Seconds from the request to proof and public signals."""
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Prefer": "wait=60"}
    body = form({"job": json.dumps({"type": "prove", "key": CIRCUIT}).encode(), "witness": witness})
    began = time.perf_counter()
    job = client.json("POST", "/v1/jobs", body, headers)
    if job["state"] != "done":
        raise SystemExit(f"a job is {job['state']}: {job.get('error')}")
    # Otherwise it is said that it has no such key.
    _ = job["outputs"]["proof"], job["outputs"]["public"]
    return time.perf_counter() - began


def at_once(count, clients, work):
    """Seconds in which `clients` threads do `work(client_number)` `count` times altogether."""
    begun, lock = iter(range(count)), threading.Lock()
    problems = []

    def run(number):
        try:
            while True:
                with lock:
                    if next(begun, None) is None:
                        return
                work(number)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return time.perf_counter() - began


# Figures. Each yields (name, values, unit), of which the median and the value at 99 % are recorded, or (name, (median, at 99 %), unit).


def overhead(options):
    """Of one job at a time, with all threads."""
    witness, threads = options.witness.read_bytes(), os.cpu_count()
    with Loop(options) as loop, Server(options) as server:
        server.add(CIRCUIT, options.key)
        client = server.client()
        for _ in range(5):
            prove(client, witness), loop.seconds(1, 1, threads)
        jobs, direct = [], []
        for _ in range(options.samples):
            jobs.append(1000 * prove(client, witness))
            direct.append(1000 * loop.seconds(1, 1, threads))
    yield "proof in the loop", direct, "ms"
    yield "job", jobs, "ms"
    more = statistics.median(jobs) - statistics.median(direct), quantile(jobs, 0.99) - quantile(direct, 0.99)
    yield "overhead", more, "ms"


def throughput(options):
    """As a part of the loop's, in alternation."""
    witness, threads = options.witness.read_bytes(), os.cpu_count()
    for name, policy, side_by_side in (("one at a time", "latency", 1), ("side by side", "throughput", threads)):
        with Loop(options) as loop, Server(options, "--policy", policy) as server:
            server.add(CIRCUIT, options.key)
            clients = [server.client() for _ in range(side_by_side + 2)]
            work = lambda number: prove(clients[number], witness)
            run = lambda count: at_once(count, len(clients), work)
            run(8), loop.seconds(8, side_by_side, threads // side_by_side)
            service, direct = [], []
            for _ in range(options.rounds):
                service.append(options.count / run(options.count))
                direct.append(options.count / loop.seconds(options.count, side_by_side, threads // side_by_side))
        yield f"loop {name}", direct, "proofs/s"
        yield f"service {name}", service, "proofs/s"
        yield f"service in percent of loop {name}", [100 * a / b for a, b in zip(service, direct)], "%"


def rates(options):
    """Of empty jobs, from the first submission to the last end."""
    for name, batch in (("empty jobs", 1), ("empty jobs batched", 100)):
        rates = []
        with Server(options, "--policy", "throughput") as server:
            job = {"type": "empty"}
            single = lambda number: clients[number].ask("POST", "/v1/jobs", json.dumps(job), {"Content-Type": "application/json"})
            batched = lambda number: clients[number].ask("POST", "/v1/jobs/batch", json.dumps([job] * batch), {"Content-Type": "application/json"})
            count = options.empty_jobs
            for _ in range(options.rounds):
                # Idle connections are closed.
                clients, watcher = [server.client() for _ in range(4)], server.client()
                began = time.perf_counter()
                at_once(count // batch, len(clients), single if batch == 1 else batched)
                while any(watcher.json("GET", f"/v1/jobs?state={state}&limit=1")["jobs"] for state in ("queued", "running")):
                    time.sleep(0.02)
                rates.append(count / (time.perf_counter() - began))
        yield name, rates, "jobs/s"


def memory(options):
    """Of the server's process, idle, after a proof, and with a queue."""
    with Server(options) as server:
        time.sleep(1)
        yield "idle server", [pss_mb(server.process.pid)], "MB"
        server.add(CIRCUIT, options.key)
        for _ in range(10):
            prove(server.client(), options.witness.read_bytes())
        time.sleep(2)
        yield "server after ten proofs", [pss_mb(server.process.pid)], "MB"
        yield "warm prover", [sum(map(pss_mb, server.processes()[1:]))], "MB"
    with Server(options, "--no-worker") as server:
        client = server.client()
        before = pss_mb(server.process.pid)
        for _ in range(100):
            client.ask("POST", "/v1/jobs/batch", json.dumps([{"type": "empty"}] * 100), {"Content-Type": "application/json"})
        yield "10000 queued jobs", [pss_mb(server.process.pid) - before], "MB"


def against_peer(options):
    """The routes of proverServer, asked in the same way."""

    def proof(client):
        began = time.perf_counter()
        client.ask("POST", f"/input/{CIRCUIT}", signals, {"Content-Type": "application/json"})
        while (status := client.json("GET", "/status"))["status"] == "busy":
            time.sleep(0.001)
        if status["status"] != "success":
            raise SystemExit(f"{status}")
        return 1000 * (time.perf_counter() - began)

    signals = options.signals.read_bytes()
    port = free_port()
    log = open(os.devnull, "wb")
    peer = subprocess.Popen(shlex.split(options.peer.format(port=port)), stdout=log, stderr=log)
    try:
        with Server(options) as server:
            server.add(CIRCUIT, options.key)
            server.add(f"{CIRCUIT}.wasm", options.program)
            until_answers(port, "/status")
            ours, theirs = server.client(), None
            service, others = [], []
            for sample in range(options.samples // 4 + 3):
                # proverServer closes its connections.
                theirs = Client(port)
                pair = proof(ours), proof(theirs)
                if sample >= 3:
                    service.append(pair[0])
                    others.append(pair[1])
    finally:
        peer.kill()
        peer.wait()
    yield "input service", service, "ms"
    yield "input proverServer", others, "ms"
    yield "times proverServer", [statistics.median(others) / statistics.median(service)], ""


FIGURES = {"overhead": overhead, "throughput": throughput, "rates": rates, "memory": memory, "peer": against_peer}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--bin", type=Path, default=ROOT / "target/release", help="the folder of proofmill and proofmill-server")
    add("--loop", type=Path, default=ROOT / "target/release/examples/prove_loop", help="the loop in one process")
    add("--key", type=Path, required=True)
    add("--witness", type=Path)
    add("--program", type=Path, help="the circuit's WASM, against a peer")
    add("--signals", type=Path, help="its input.json, against a peer")
    add("--peer", help="a command that starts proverServer on {port}")
    add("--store", help="the URL of a PostgreSQL database, which is emptied; default: SQLite")
    add("--figures", default=",".join(name for name in FIGURES if name != "peer"), help=f"some of {','.join(FIGURES)}")
    add("--samples", type=int, default=400, help="jobs whose time is taken")
    add("--rounds", type=int, default=5, help="rounds of --count proofs, or of --empty-jobs")
    add("--count", type=int, default=60)
    add("--empty-jobs", type=int, default=4000)
    add("--record", type=Path, help="a CSV file to which lines are added")
    return parser.parse_args()


def main():
    settings = options()
    for figure in settings.figures.split(","):
        for name, values, unit in FIGURES[figure](settings):
            is_list = isinstance(values, list)
            median, most = (statistics.median(values), quantile(values, 0.99)) if is_list else values
            row = {
                "figure": name,
                "store": "postgres" if settings.store else "sqlite",
                "samples": len(values) if is_list else settings.samples,
                "median": f"{median:.4g}",
                "at_99_percent": f"{most:.4g}",
                "unit": unit,
                "date": datetime.date.today().isoformat(),
                "cpu": cpu(),
                "cores": os.cpu_count(),
            }
            print(f"{name:45}{row['store']:10}{row['median']:>10} {unit:10}at 99 %: {row['at_99_percent']}", flush=True)
            if settings.record:
                write(settings.record, row)


def write(record, row):
    is_new = not record.exists()
    with open(record, "a", newline="") as file:
        writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
