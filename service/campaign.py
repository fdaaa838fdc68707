#!/usr/bin/env python3
"""campaign.py: kills, stops and cuts off a service that works, and checks that it keeps its promises.

Starts servers and workers, submits jobs with duplicates and lost answers, and meanwhile kills (kill -9), stops (SIGSTOP beyond the
lease), cuts connections, fills the disk, lets the clock jump, stops PostgreSQL at once, drains. Then it reads the database and the
objects: no acknowledged job is lost, none has two results, no stale result is served, attempts are bounded, every proof is valid.
Prints a summary and adds a line to a CSV record; exits with 1 if a promise was broken.

Only Python's standard library is needed; psql for PostgreSQL, node with snarkjs for --snarkjs, libfaketime for --clock-jumps, root for
--full-disk. The random choices follow from --seed; the times at which they are made do not.

    service/campaign.py --bin target/release --jobs 2000 --kills 100 --stops 30 --poison 4 --drains 3 --snarkjs
"""

import argparse
import collections
import contextlib
import csv
import datetime
import glob
import hashlib
import http.client
import json
import os
import queue
import random
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDED = ("done", "failed", "dead", "cancelled", "expired")
# The ends of witnesses that kill their prover, and their prover and its worker.
POISON = {"prover": b"POISON-P", "worker": b"POISON-W"}


class Interface:
    """All that the campaign knows of the service's commands, routes and files."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.server_program = str(options.bin / "proofmill-server")
        self.program = str(options.bin / "proofmill")
        self.data = folder / "data"
        # The administrator's, which the first server makes.
        self.token_file = self.data / "token"

    def store_arguments(self):
        arguments = ["--data", str(self.data)]
        if self.options.store != "sqlite":
            arguments += ["--store", self.options.store_through_proxy]
        if self.options.objects:
            arguments += ["--objects", self.options.objects]
        return arguments

    def server_command(self, port):
        lease = ["--lease", f"{self.options.lease}s"]
        own_worker = ["--program", self.prover()] + shlex.split(self.options.server_arguments)
        return [self.server_program, "serve", "--listen", f"127.0.0.1:{port}", *self.store_arguments(), *lease, *own_worker]

    def worker_command(self, port, folder):
        token = ["--token-file", str(self.token_file)]
        rest = ["--data", str(folder), "--program", self.prover(), "--lease", f"{self.options.lease}s"]
        more = shlex.split(self.options.worker_arguments)
        return [self.server_program, "worker", "--server", f"http://127.0.0.1:{port}", *token, *rest, *more]

    def prover(self):
        """The program that workers start: one that obeys the poison, if there is any."""
        return str(self.folder / "prover") if self.options.poison else self.program

    def key_request(self, key):
        return "PUT", f"/v1/keys/{hashlib.sha256(key).hexdigest()}?name=campaign", key, {}

    def job_request(self, job):
        headers = {"Content-Type": "application/json", "Idempotency-Key": job.name}
        body = b'{"type": "empty"}'
        if job.kind != "empty":
            witness = self.options.witness.read_bytes() + POISON.get(job.kind, b"")
            body = form({"job": b'{"type": "prove", "key": "campaign"}', "witness": witness})
            headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
        return "POST", "/v1/jobs", body, headers

    @staticmethod
    def job_id(answer):
        return json.loads(answer)["id"]

    @staticmethod
    def output_request(job, output):
        return "GET", f"/v1/jobs/{job}/{output}", None, {}

    def database(self):
        """The SQLite file."""
        return self.data / "store.sqlite"

    def output_file(self, job, fence, output):
        return self.data / "objects" / "jobs" / job / str(fence) / output

    def input_files(self):
        return glob.glob(f"{self.data}/objects/jobs/*/inputs/*")

    def verify_command(self, public, proof):
        return [self.program, "groth16", "verify", str(self.options.verification_key), str(public), str(proof)]


BOUNDARY = "boundary-of-the-campaign"


def form(parts):
    """A body of type multipart/form-data."""
    body = b""
    for name, content in parts.items():
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


# A program that passes everything to the real one, but dies of poison.
PROVER = """#!{python}
import json, os, signal, subprocess, sys
child = subprocess.Popen([{program!r}] + sys.argv[1:], stdin=subprocess.PIPE)
def end(path):
    try:
        with open(path, "rb") as file:
            file.seek(-8, 2)
            return file.read()
    except OSError:
        return b""
for line in sys.stdin.buffer:
    ends = [end(path) for path in json.loads(line).get("inputs", {{}}).values()] if line.strip() else []
    if {worker!r} in ends:
        os.kill(os.getppid(), signal.SIGKILL)
    if {worker!r} in ends or {prover!r} in ends:
        child.kill()
        os.kill(os.getpid(), signal.SIGKILL)
    child.stdin.write(line)
    child.stdin.flush()
child.stdin.close()
sys.exit(child.wait())
"""


class Program:
    """A process that is started again whenever it ends."""

    def __init__(self, name, command, log, environment):
        self.name, self.command, self.log, self.environment = name, command, log, environment
        self.process, self.lock, self.is_wanted, self.deaths = None, threading.Lock(), False, 0

    def start(self):
        with self.lock:
            self.is_wanted = True
            self.start_if_ended()

    def start_if_ended(self):
        if self.process is None or self.process.poll() is not None:
            with open(self.log, "ab") as log:
                settings = {**os.environ, **self.environment()}
                self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=settings)

    def revive(self):
        """Starts it again if it ended by itself."""
        with self.lock:
            if self.is_wanted and self.process is not None and self.process.poll() is not None:
                self.deaths += 1
                self.start_if_ended()

    def signal(self, number):
        with self.lock:
            if self.process is not None and self.process.poll() is None:
                self.process.send_signal(number)

    def kill(self):
        with self.lock:
            self.process.kill()
            self.process.wait()
            self.start_if_ended()

    def drain(self, patience):
        """Asks it to end, starts it again, and returns how long it took; None if it had to be killed."""
        with self.lock:
            began = time.monotonic()
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(patience)
                took = time.monotonic() - began
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                took = None
            if self.is_wanted:
                self.start_if_ended()
            return took

    def end(self):
        with self.lock:
            self.is_wanted = False
            if self.process is None or self.process.poll() is not None:
                return
        self.signal(signal.SIGCONT)
        self.drain(20)


class Proxy:
    """Passes connections to an address, and cuts them on request."""

    def __init__(self, host, port):
        self.target, self.pairs, self.lock = (host, port), set(), threading.Lock()
        self.is_open = True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(self.target, 5) if self.is_open else None
            except OSError:
                server = None
            if server is None:
                client.close()
                continue
            server.settimeout(None)
            with self.lock:
                self.pairs.add((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=(source, sink, (client, server)), daemon=True).start()

    def copy(self, source, sink, pair):
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                sink.sendall(content)
        self.close(pair)

    def close(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self, seconds):
        """Cuts all connections, and refuses new ones for a time."""
        self.is_open = False
        for pair in list(self.pairs):
            self.close(pair)
        time.sleep(seconds)
        self.is_open = True


class Store:
    """Reads the service's database."""

    COLUMNS = "id, state, attempts, most_attempts, fence, idempotency_key, inputs, result, outputs, error, task"

    def __init__(self, options, interface):
        self.options, self.interface = options, interface

    def rows(self, sql):
        if self.options.store != "sqlite":
            command = ["psql", self.options.store, "-XAtq", "-F", "\x1f", "-R", "\x1e", "-c", sql]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip("\n")
            return [row.split("\x1f") for row in said.split("\x1e")] if said else []
        path = self.interface.database()
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as connection:
            return [[("" if value is None else str(value)) for value in row] for row in connection.execute(sql)]

    def fences(self):
        """The fences of the jobs that run, or none if the database does not answer."""
        try:
            rows = self.rows("SELECT id, fence FROM jobs WHERE state = 'running'")
        except (sqlite3.Error, subprocess.CalledProcessError):
            return {}
        return {job: int(fence) for job, fence in rows}

    def fence(self, job):
        try:
            rows = self.rows(f"SELECT fence, state FROM jobs WHERE id = '{job}'")
        except (sqlite3.Error, subprocess.CalledProcessError):
            return None
        return (int(rows[0][0]), rows[0][1]) if rows else None

    def waiting(self):
        try:
            return int(self.rows("SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')")[0][0])
        except (sqlite3.Error, subprocess.CalledProcessError):
            return None

    def jobs(self):
        names = [name.strip() for name in self.COLUMNS.split(",")]
        return [dict(zip(names, row)) for row in self.rows(f"SELECT {self.COLUMNS} FROM jobs ORDER BY id")]


class Job:
    """A job that clients submit, and the ids that they were told."""

    def __init__(self, name, kind):
        self.name, self.kind, self.ids, self.refusals = name, kind, set(), []


class Campaign:
    """Everything together."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.random = random.Random(options.seed)
        self.interface = Interface(options, folder)
        self.store = Store(options, self.interface)
        self.counts, self.problems = collections.Counter(), []
        self.reclaimed, self.drained = [], []
        self.done_faults, self.faults = 0, []
        self.proxies, self.lock, self.has_ended = [], threading.Lock(), threading.Event()
        self.servers, self.workers, self.clock = [], [], 0
        self.token = None

    # Processes

    def start(self):
        options = self.options
        self.interface.data.mkdir(mode=0o700)
        if options.full_disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={options.disk_mb}m,mode=0700", "tmpfs", self.interface.data], check=True)
        prover = self.folder / "prover"
        words = {kind: word for kind, word in POISON.items()}
        prover.write_text(PROVER.format(python=sys.executable, program=self.interface.program, **words))
        prover.chmod(0o700)
        options.store_through_proxy = self.through_proxy(options.store)
        if options.objects:
            os.environ["AWS_ENDPOINT_URL"] = self.through_proxy(os.environ["AWS_ENDPOINT_URL"])
        ports = [free_port() for _ in range(options.servers)]
        self.ports = ports
        for index, port in enumerate(ports):
            log = self.folder / f"server-{index}.log"
            self.servers.append(Program(f"server {index}", self.interface.server_command(port), log, self.clock_settings))
        for index in range(options.workers):
            own = self.folder / f"worker-{index}"
            own.mkdir(mode=0o700)
            command = self.interface.worker_command(ports[index % len(ports)], own)
            self.workers.append(Program(f"worker {index}", command, self.folder / f"worker-{index}.log", dict))
        for server in self.servers:
            server.start()
        threading.Thread(target=self.revive, daemon=True).start()
        self.until_ready()
        self.token = self.interface.token_file.read_text().strip()
        for worker in self.workers:
            worker.start()
        if options.key:
            self.asked(*self.interface.key_request(options.key.read_bytes()))

    def programs(self):
        return self.servers + self.workers

    def through_proxy(self, url):
        """The address of a proxy that passes on to the host of this URL, if connections are to be cut."""
        found = re.match(r"(\w+://(?:[^/@]*@)?)([\w.-]+):(\d+)(.*)", url or "")
        if not self.options.cuts or not found:
            return url
        proxy = Proxy(found[2], int(found[3]))
        self.proxies.append(proxy)
        return f"{found[1]}127.0.0.1:{proxy.port}{found[4]}"

    def clock_settings(self):
        """Another time of day for each start of a server, if the clock jumps."""
        if not self.options.clock_jumps:
            return {}
        return {"LD_PRELOAD": faketime(), "FAKETIME": f"{self.clock:+d}s", "DONT_FAKE_MONOTONIC": "1"}

    def revive(self):
        while not self.has_ended.wait(0.2):
            for program in self.programs():
                program.revive()

    def until_ready(self):
        self.asked("GET", "/readyz", None, {}, patience=60)

    # Requests

    def ask(self, random_source, method, path, body, headers, cuts=False):
        """The status and body of an answer. With `cuts`, the answer is not waited for."""
        port = random_source.choice(self.ports)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}", **headers})
            if cuts:
                time.sleep(random_source.random() * 0.02)
                return None, b""
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def asked(self, method, path, body, headers, patience=60):
        """The body of an answer; asked again until it succeeds."""
        end, problem = time.monotonic() + patience, "no answer"
        while time.monotonic() < end:
            try:
                status, content = self.ask(random, method, path, body, headers)
                if 200 <= status < 300:
                    return content
                problem = f"{status}: {content[:200]!r}"
            except (OSError, http.client.HTTPException) as error:
                problem = repr(error)
            time.sleep(0.2)
        raise SystemExit(f"{method} {path}: {problem}; logs are in {self.folder}")

    # Clients

    def new_jobs(self):
        options, jobs = self.options, []
        for index in range(options.jobs):
            kind = "prove" if options.key and self.random.random() < options.proofs else "empty"
            jobs.append(Job(f"campaign-{options.seed}-{index}", kind))
        for index, job in enumerate(self.random.sample(jobs, options.poison)):
            job.kind = ("prover", "worker")[index % 2]
        return jobs

    def submit_all(self, jobs):
        """Submits jobs in step with the faults, each up to three times, by several clients at once."""
        tasks, threads = queue.Queue(), []
        for client in range(self.options.clients):
            source = random.Random(f"{self.options.seed} {client}")
            threads.append(threading.Thread(target=self.client, args=(tasks, source), daemon=True))
            threads[-1].start()
        for index, job in enumerate(jobs):
            while index > self.options.jobs * (self.done_faults + 1) / (len(self.faults) + 1):
                time.sleep(0.01)
            for _ in range(self.random.choice((1, 1, 2, 3))):
                tasks.put(job)
        for _ in threads:
            tasks.put(None)
        for thread in threads:
            thread.join()

    def client(self, tasks, source):
        while (job := tasks.get()) is not None:
            self.submit(job, source)

    def submit(self, job, source):
        while True:
            is_cut = source.random() < self.options.lost_answers
            self.count("submissions")
            try:
                status, content = self.ask(source, *self.interface.job_request(job), cuts=is_cut)
            except (OSError, http.client.HTTPException):
                status, content = 0, b""
            if status in (200, 201, 202):
                job.ids.add(self.interface.job_id(content))
                return
            if status and 400 <= status < 500 and status not in (408, 409, 425, 429):
                job.refusals.append(f"{status} {content[:200]!r}")
                return
            self.count("answers lost" if status is None else "answers refused or broken")
            time.sleep(0.05 + source.random() * 0.2)

    def count(self, name):
        with self.lock:
            self.counts[name] += 1

    # Faults

    def plan(self):
        options = self.options
        kills = [("kill server", "kill worker")[index % 2 if self.options.workers else 0] for index in range(options.kills)]
        self.faults = kills + ["stop"] * options.stops + ["cut"] * options.cuts + ["drain"] * options.drains
        self.faults += ["postgres"] * options.postgres_stops + ["full disk"] * options.full_disk + ["clock"] * options.clock_jumps
        self.random.shuffle(self.faults)

    def cause_faults(self):
        for fault in self.faults:
            time.sleep(self.options.interval * (0.5 + self.random.random()))
            self.until_ready()
            {
                "kill server": lambda: self.kill(self.random.choice(self.servers)),
                "kill worker": lambda: self.kill(self.random.choice(self.workers)),
                "stop": self.stop_one,
                "cut": self.cut,
                "drain": self.drain_one,
                "postgres": self.stop_postgres,
                "full disk": self.fill_disk,
                "clock": self.jump,
            }[fault]()
            self.count(fault)
            self.done_faults += 1

    def kill(self, program):
        fences, began = self.store.fences(), time.monotonic()
        program.kill()
        threading.Thread(target=self.watch, args=(fences, began), daemon=True).start()

    def watch(self, fences, began):
        """Notes how long the jobs of a killed worker waited for their next claim."""
        waits = dict(fences)
        while waits and time.monotonic() < began + 10 * self.options.lease:
            for job, fence in list(waits.items()):
                now = self.store.fence(job)
                if now is not None and (now[0] > fence or now[1] in ENDED):
                    if now[0] > fence:
                        self.reclaimed.append(time.monotonic() - began)
                    del waits[job]
            time.sleep(0.05)

    def stop_one(self):
        program = self.random.choice(self.workers or self.servers)
        program.signal(signal.SIGSTOP)
        time.sleep(self.options.lease * 1.5 + 1)
        program.signal(signal.SIGCONT)

    def cut(self):
        if self.proxies:
            self.random.choice(self.proxies).cut(self.random.random() * self.options.lease)

    def drain_one(self):
        program = self.random.choice(self.programs())
        took = program.drain(60)
        if took is None:
            self.problems.append(f"{program.name} had not ended a minute after SIGTERM")
        else:
            self.drained.append(took)

    def stop_postgres(self):
        subprocess.run(shlex.split(self.options.postgres_stop), check=True, stdout=subprocess.DEVNULL)
        time.sleep(self.random.random() * self.options.lease)
        subprocess.run(shlex.split(self.options.postgres_start), check=True, stdout=subprocess.DEVNULL)

    def fill_disk(self):
        place = self.interface.data / "filler"
        with contextlib.suppress(OSError), open(place, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        time.sleep(self.options.lease)
        place.unlink()

    def jump(self):
        self.clock = self.random.choice((-7200, -60, -1, 1, 60, 7200))
        self.kill(self.random.choice(self.servers))

    # Checks

    def wait_for_end(self):
        end = time.monotonic() + self.options.patience
        while time.monotonic() < end:
            if self.store.waiting() == 0:
                return
            time.sleep(0.2)
        self.problems.append(f"{self.store.waiting()} jobs had not ended after {self.options.patience} s more")

    def check(self, jobs):
        rows = {row["id"]: row for row in self.store.jobs()}
        by_name = collections.defaultdict(list)
        for row in rows.values():
            by_name[row["idempotency_key"]].append(row)
        for job in jobs:
            self.check_job(job, rows, by_name.pop(job.name, []))
        if by_name:
            self.problems.append(f"{len(by_name)} jobs that nobody submitted")
        for row in rows.values():
            self.count(row["state"])
            self.check_row(row)
        return rows

    def check_job(self, job, rows, found):
        say = lambda problem: self.problems.append(f"{job.name} ({job.kind}): {problem}")
        for refusal in job.refusals:
            say(f"refused: {refusal}")
        if len(job.ids) > 1:
            say(f"acknowledged as several jobs: {sorted(job.ids)}")
        for lost in job.ids - rows.keys():
            self.count("lost")
            say(f"acknowledged as {lost}, which is lost")
        if len(found) > 1:
            self.count("twice")
            say(f"there {len(found)} times")
        for row in found:
            if row["state"] == "failed":
                say(f"failed: {row['error']}")
            if job.kind in POISON and row["state"] != "dead":
                say(f"poison ended {row['state']}")

    def check_row(self, row):
        say = lambda problem: self.problems.append(f"job {row['id']}: {problem}")
        if row["state"] not in ENDED:
            say(f"it is {row['state']}")
        if int(row["attempts"]) > int(row["most_attempts"]) or int(row["attempts"]) > int(row["fence"]):
            say(f"{row['attempts']} attempts of {row['most_attempts']}, fence {row['fence']}")
        if (row["state"] == "done") != bool(row["result"]):
            say(f"it is {row['state']} and has {'a' if row['result'] else 'no'} result")

    def check_outputs(self, rows):
        """Downloads all proofs, compares them with what came with the accepted reports, and has them verified."""
        place = self.folder / "proofs"
        place.mkdir()
        done = [row for row in rows.values() if row["state"] == "done" and '"prove"' in row["task"]]
        pairs = []
        for row in done:
            pair = []
            for output in ("public", "proof"):
                content = self.asked(*self.interface.output_request(row["id"], output))
                pair.append(place / f"{row['id']}-{output}.json")
                pair[-1].write_bytes(content)
                small = json.loads(row["outputs"] or "{}")
                if output in small:
                    is_stored = small[output] == json.loads(content)
                else:
                    file = self.interface.output_file(row["id"], row["fence"], output)
                    is_stored = self.options.objects or file.exists() and file.read_bytes() == content
                if not is_stored:
                    self.count("stale")
                    self.problems.append(f"job {row['id']}: the {output} that is served is not that of claim {row['fence']}")
            pairs.append(pair)
        for pair in pairs:
            if subprocess.run(self.interface.verify_command(*pair), capture_output=True).returncode == 0:
                self.count("proofs verified")
            else:
                self.problems.append(f"{pair[1].name} is not valid")
        if self.options.snarkjs and pairs:
            self.verify_with_snarkjs(pairs)

    def verify_with_snarkjs(self, pairs):
        (self.folder / "pairs.json").write_text(json.dumps([[str(path) for path in pair] for pair in pairs]))
        script = """const snarkjs = require("snarkjs"), fs = require("fs"), read = (path) => JSON.parse(fs.readFileSync(path));
            (async () => {
                const [key, pairs] = process.argv.slice(1).map(read);
                const bad = [];
                for (const [publics, proof] of pairs) if (!await snarkjs.groth16.verify(key, read(publics), read(proof))) bad.push(proof);
                console.log(JSON.stringify(bad));
                process.exit();
            })();"""
        command = ["node", "-e", script, str(self.options.verification_key), str(self.folder / "pairs.json")]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        bad = json.loads(said.strip().splitlines()[-1])
        self.counts["proofs verified by snarkjs"] = len(pairs) - len(bad)
        self.problems += [f"snarkjs does not accept {proof}" for proof in bad]

    def check_leftovers(self):
        """Inputs of ended jobs are deleted soon, but for dead ones. Those that a killed server left without a job stay for an hour."""
        end = time.monotonic() + 45
        states = dict(self.store.rows("SELECT id, state FROM jobs"))
        has_kills = any(self.counts[fault] for fault in ("kill server", "clock", "drain", "postgres", "full disk", "cut"))
        may_stay = lambda path: states.get(path.split("/")[-3], "dead" if has_kills or self.options.poison else "") == "dead"
        while left := [path for path in self.interface.input_files() if not may_stay(path)]:
            if time.monotonic() > end:
                self.problems.append(f"{len(left)} inputs of jobs that have ended are not deleted, such as {left[0]}")
                return
            time.sleep(0.5)

    def check_orphans(self):
        """After the service has ended, no prover is left."""
        time.sleep(1)
        left = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = Path(path).read_bytes().split(b"\0")
                if str(self.folder).encode() in b" ".join(words):
                    left.append(b" ".join(words).decode(errors="replace"))
        self.problems += [f"still running: {command}" for command in left]

    # The whole

    def run(self):
        began = time.monotonic()
        self.plan()
        self.start()
        jobs = self.new_jobs()
        submitting = threading.Thread(target=self.submit_all, args=(jobs,), daemon=True)
        submitting.start()
        self.cause_faults()
        submitting.join()
        self.wait_for_end()
        self.until_ready()
        rows = self.check(jobs)
        self.check_outputs(rows)
        if not self.options.objects:
            self.check_leftovers()
        self.end()
        self.check_orphans()
        return time.monotonic() - began

    def end(self):
        self.has_ended.set()
        for program in self.workers + self.servers:
            program.end()
        if self.options.full_disk and os.path.ismount(self.interface.data):
            subprocess.run(["umount", self.interface.data])

    def record(self, seconds):
        counts, options = self.counts, self.options
        figure = lambda values, of: f"{of(values):.2f}" if values else ""
        store = "postgres" if options.store != "sqlite" else "sqlite"
        return {
            "date": datetime.date.today().isoformat(),
            "cpu": cpu(),
            "cores": os.cpu_count(),
            "store": store,
            "objects": "s3" if options.objects else "files",
            "servers": options.servers,
            "workers": options.workers,
            "seed": options.seed,
            "lease_s": options.lease,
            "jobs": options.jobs,
            "submissions": counts["submissions"],
            "answers_lost": counts["answers lost"] + counts["answers refused or broken"],
            "server_kills": counts["kill server"],
            "worker_kills": counts["kill worker"],
            "stops": counts["stop"],
            "postgres_stops": counts["postgres"],
            "cuts": counts["cut"],
            "full_disks": counts["full disk"],
            "clock_jumps": counts["clock"],
            "drains": counts["drain"],
            "poison_jobs": options.poison,
            "done": counts["done"],
            "dead": counts["dead"],
            "failed": counts["failed"],
            "lost": counts["lost"],
            "twice": counts["twice"],
            "stale": counts["stale"],
            "proofs_verified": counts["proofs verified"],
            "proofs_verified_by_snarkjs": counts["proofs verified by snarkjs"],
            "claimed_again_median_s": figure(self.reclaimed, statistics.median),
            "claimed_again_max_s": figure(self.reclaimed, max),
            "drain_max_s": figure(self.drained, max),
            "seconds": f"{seconds:.0f}",
            "problems": len(self.problems),
        }


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def faketime():
    """The library that lies about the time of day."""
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not found:
        raise SystemExit("--clock-jumps needs libfaketime: apt-get install faketime")
    return found[0]


def cpu():
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    return "unknown"


def options():
    small = ROOT / "examples" / "membership-small"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--bin", type=Path, default=ROOT / "target/debug", help="the folder of proofmill and proofmill-server")
    add("--jobs", type=int, default=100, help="jobs to submit")
    add("--proofs", type=float, default=0.3, help="the share of jobs that are proofs; the others are empty")
    add("--kills", type=int, default=0, help="kill -9 of a server and of a worker in turn")
    add("--stops", type=int, default=0, help="SIGSTOP of a worker until its leases have ended")
    add("--cuts", type=int, default=0, help="cuts of the connections to PostgreSQL or the object storage")
    add("--drains", type=int, default=0, help="SIGTERM of a server or worker")
    add("--postgres-stops", type=int, default=0, help="stops of PostgreSQL by --postgres-stop")
    add("--postgres-stop", default="", help="a command that stops PostgreSQL at once: pg_ctl stop -m immediate ...")
    add("--postgres-start", default="", help="a command that starts it")
    add("--full-disk", type=int, default=0, help="how often the disk is full; needs root")
    add("--disk-mb", type=int, default=256, help="the size of that disk")
    add("--clock-jumps", type=int, default=0, help="how often a server starts with another time of day; needs libfaketime")
    add("--poison", type=int, default=0, help="jobs that kill their prover, or prover and worker, in turn")
    add("--store", default="sqlite", help="sqlite, or the URL of an empty PostgreSQL database")
    add("--objects", default="", help="s3://BUCKET/PREFIX, at AWS_ENDPOINT_URL; default: files")
    add("--servers", type=int, default=1)
    add("--workers", type=int, default=2, help="workers besides those of the servers")
    add("--server-arguments", default="", help="more arguments of servers")
    add("--worker-arguments", default="", help="more arguments of workers")
    add("--clients", type=int, default=8, help="clients that submit at the same time")
    add("--lost-answers", type=float, default=0.15, help="the share of submissions whose client hangs up before the answer")
    add("--lease", type=int, default=2, help="the lease in seconds")
    add("--interval", type=float, default=0.7, help="the mean pause between faults in seconds")
    add("--patience", type=int, default=120, help="seconds for the jobs to end after the last fault")
    add("--seed", type=int, default=1)
    add("--key", type=Path, default=small / "groth16.zkey")
    add("--witness", type=Path, default=small / "witness.wtns")
    add("--verification-key", type=Path, default=small / "groth16.vk.json")
    add("--snarkjs", action="store_true", help="have snarkjs verify the proofs, too")
    add("--record", type=Path, help="a CSV file to which a line is added")
    add("--keep", action="store_true", help="keep the folder with logs and data")
    found = parser.parse_args()
    if found.postgres_stops and not (found.postgres_stop and found.postgres_start):
        parser.error("--postgres-stops needs --postgres-stop and --postgres-start")
    if found.objects and not os.environ.get("AWS_ENDPOINT_URL"):
        parser.error("--objects needs AWS_ENDPOINT_URL")
    if found.full_disk and os.geteuid() != 0:
        parser.error("--full-disk needs root")
    if found.poison > found.jobs:
        parser.error("--poison is more than --jobs")
    if found.clock_jumps:
        faketime()
    return found


def main():
    settings = options()
    folder = Path(tempfile.mkdtemp(prefix="campaign-"))
    campaign, seconds = Campaign(settings, folder), 0
    try:
        seconds = campaign.run()
    finally:
        campaign.end()
    record = campaign.record(seconds)
    for name, value in record.items():
        print(f"{name:28}{value}")
    for problem in campaign.problems[:50]:
        print(f"BROKEN: {problem}")
    if settings.record:
        is_new = not settings.record.exists()
        with open(settings.record, "a", newline="") as file:
            writer = csv.DictWriter(file, record.keys(), lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(record)
    if campaign.problems or settings.keep:
        print(f"logs and data: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(campaign.problems))


if __name__ == "__main__":
    main()
