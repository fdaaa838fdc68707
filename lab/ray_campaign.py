#!/usr/bin/env python3
"""ray_campaign.py: kills workers and nodes of a Ray cluster that proves, and checks every proof; measures proofs that nothing disturbs.

    unshare -rn sh -c 'ip link set lo up; exec lab/ray_campaign.py --kills 50 --node-kills 10 --record lab/records/ray_campaign.csv'

Starts a cluster on this machine, of nodes with one CPU each, and proves again and again. Meanwhile, at random times within a proof, it kills
workers (kill -9), stops some until the proof is made (SIGSTOP), and kills whole nodes, which others replace. Every proof's sums must be those of
one process, byte for byte, and every proof must verify, also by snarkjs with --snarkjs. An error is allowed, counted, and must be `Lost`.

With --air it proves a STARK, of the files that `proofmill stark workload poseidon2 --log-rows 14 --out FOLDER` makes: every proof must be the
bytes that one process makes.

Then it proves by turns in one process with one thread, and on the cluster. Prints a summary and adds a line to a CSV record; exits with 1 if
a proof was wrong. Needs the package proofmill[ray]. Ray replaces 127.0.0.1 by the host's address, so that firewalls may make it hang: hence
a network namespace with nothing but the loopback. The random choices follow from --seed; when they happen does not.
"""

import argparse
import csv
import datetime
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Processes of this campaign have it in their environment, and no others are killed.
MARK = f"PROOFMILL_CAMPAIGN={os.getpid()}-{time.time_ns()}"
STORE_BYTES = 256 << 20


def workers():
    """The processes of workers that are alive."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cmdline").read_bytes().startswith((b"ray::Worker", b"ray::StarkWorker")):
                if MARK.encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
        except OSError:
            continue
    return found


class Groth16:
    """Proofs of a key and a witness."""

    def __init__(self, pm, options):
        self.pm, self.options = pm, options
        self.witness = pm.circom.Witness(options.witness)
        # What one process sums, without Ray.
        wires = pm.groth16.Sums.of_wires(options.key, 0, self.witness.to_numpy())
        rest = pm.groth16.Sums.of_quotient(options.key, 0, pm.groth16.quotient(options.key, self.witness))
        self.expected = (wires + rest).to_bytes()
        self.store_bytes = 5 * options.witness.stat().st_size
        self.key = pm.groth16.ProvingKey(options.key)

    def prover(self):
        options = self.options
        return self.pm.ray.Prover(options.key, shards=options.nodes, folder=options.folder, divided=options.divided, allow_insecure_setup=True)

    def prove(self, prover):
        """A function that says whether the proof is right."""
        sums = prover._sums(self.witness)
        proof = self.pm.groth16.assemble(self.options.key, self.witness, sums, allow_insecure_setup=True)
        return lambda: sums.to_bytes() == self.expected and self.verifies(proof)

    def verifies(self, proof):
        try:
            proof.verify(allow_insecure_setup=True)
        except self.pm.Error:
            return False
        if not self.options.snarkjs:
            return True
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("vk.json", "public.json", "proof.json")]
            self.key.verifying_key.save(paths[0], allow_insecure_setup=True)
            proof.save(paths[2], paths[1])
            return subprocess.run(["snarkjs", "groth16", "verify", *paths], capture_output=True).returncode == 0

    def alone(self):
        self.key.prove(self.witness, threads=1, allow_insecure_setup=True)

    def facts(self):
        wires, domain = self.pm.groth16.shape(self.options.key)
        return {
            "domain": domain, "wires": wires, "nodes": self.options.nodes, "slices": "copied" if self.options.folder else "mapped",
            "quotient": "divided" if self.options.divided else "head",
        }  # fmt: skip


class Stark:
    """Proofs of a trace."""

    def __init__(self, pm, options):
        import numpy

        self.pm, self.options = pm, options
        self.air = pm.stark.Air(options.air / "air.json")
        self.trace = numpy.fromfile(options.air / "trace.bin", "<u8").reshape(-1, self.air.columns)
        self.public = [int(value) for value in json.loads((options.air / "public.json").read_text())]
        self.expected = self.air.prove(self.trace, self.public, hash=options.hash).to_bytes()
        self.store_bytes = 5 * self.trace.nbytes

    def prover(self):
        return self.pm.ray.StarkProver(self.air, self.options.nodes, hash=self.options.hash)

    def prove(self, prover):
        proof = prover.prove(self.trace, self.public)
        return lambda: proof.to_bytes() == self.expected

    def alone(self):
        self.air.prove(self.trace, self.public, hash=self.options.hash, threads=1)

    def facts(self):
        rows, columns = self.trace.shape
        return {"rows": rows, "columns": columns, "hash": self.options.hash, "nodes": self.options.nodes}


class Campaign:
    def __init__(self, options):
        import ray
        from ray.cluster_utils import Cluster

        import proofmill as pm

        self.pm, self.options, self.random = pm, options, random.Random(options.seed)
        self.subject = (Stark if options.air else Groth16)(pm, options)
        store = max(STORE_BYTES, self.subject.store_bytes)
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": store})
        self.add_node = lambda: self.cluster.add_node(num_cpus=1, object_store_memory=store)
        self.nodes = [self.add_node() for _ in range(options.nodes)]
        ray.init(address=self.cluster.address, log_to_driver=False)
        self.prover = self.subject.prover()
        self.counts = dict.fromkeys(["proofs", "kills", "stops", "node_kills", "lost", "wrong"], 0)
        self.seconds = {"undisturbed": [], "kills": [], "stops": [], "node_kills": []}

    def prove(self):
        """Seconds of a proof; None if it was lost."""
        began = time.monotonic()
        try:
            is_right = self.subject.prove(self.prover)
        except self.pm.ray.Lost as error:
            print(f"lost: {error}")
            self.counts["lost"] += 1
            return None
        except (self.pm.Unsatisfied, self.pm.Rejected):
            # What is proven is right, so the workers' results were not.
            self.counts["wrong"] += 1
            return None
        seconds = time.monotonic() - began
        self.counts["proofs"] += 1
        self.counts["wrong"] += not is_right()
        return seconds

    def disturbed(self, what, disturb):
        """A proof, during which something happens."""
        usual = statistics.median(self.seconds["undisturbed"])
        after = self.random.uniform(0, usual)
        undo = []
        thread = threading.Thread(target=lambda: (time.sleep(after), undo.append(disturb())))
        thread.start()
        seconds = self.prove()
        thread.join()
        for action in undo:
            if action is not None:
                action()
        self.counts[what] += 1
        if seconds is not None:
            self.seconds[what].append(seconds)

    def kill(self):
        self.signal(signal.SIGKILL)

    def stop(self):
        stopped = self.signal(signal.SIGSTOP)
        return lambda: os.kill(stopped, signal.SIGCONT) if stopped in workers() else None

    def signal(self, number):
        while not (alive := sorted(workers())):
            time.sleep(0.1)
        chosen = self.random.choice(alive)
        os.kill(chosen, number)
        return chosen

    def kill_node(self):
        place = self.random.randrange(len(self.nodes))
        self.cluster.remove_node(self.nodes[place], allow_graceful=False)
        # Ray starts nodes from the main thread only.
        return lambda: self.nodes.__setitem__(place, self.add_node())

    def settle(self):
        """Waits until all workers are there again."""
        limit = time.monotonic() + 120
        while len(workers()) < self.options.nodes and time.monotonic() < limit:
            time.sleep(0.2)

    def run(self):
        options = self.options
        for _ in range(3):
            self.seconds["undisturbed"].append(self.prove())
        happenings = [("kills", self.kill)] * options.kills + [("stops", self.stop)] * options.stops
        happenings += [("node_kills", self.kill_node)] * options.node_kills
        self.random.shuffle(happenings)
        for number, (what, disturb) in enumerate(happenings, 1):
            self.settle()
            self.disturbed(what, disturb)
            print(f"{number} of {len(happenings)}: {what}; {self.counts['wrong']} wrong, {self.counts['lost']} lost", flush=True)
        self.settle()
        alone = []
        self.prove()
        self.seconds["undisturbed"] = []
        for _ in range(options.rounds):
            began = time.monotonic()
            self.subject.alone()
            alone.append(time.monotonic() - began)
            self.seconds["undisturbed"].append(self.prove())
        self.seconds["one_thread"] = alone
        return self.row()

    def row(self):
        import ray

        def figure(name, of):
            found = [seconds for seconds in self.seconds.get(name, []) if seconds is not None]
            return f"{of(found):.4g}" if found else ""

        cpu = re.search(r"^model name\s*:\s*(.*?)(?: \d+-Core Processor)?$", Path("/proc/cpuinfo").read_text(), re.M)
        return {
            "date": datetime.date.today().isoformat(), "cpu": cpu[1] if cpu else platform.machine(), "cores": os.cpu_count(), "ray": ray.__version__,
            **self.subject.facts(), "seed": self.options.seed, **self.counts,
            "one_thread_median_s": figure("one_thread", statistics.median), "cluster_median_s": figure("undisturbed", statistics.median),
            "killed_median_s": figure("kills", statistics.median), "killed_max_s": figure("kills", max),
            "stopped_median_s": figure("stops", statistics.median), "node_killed_median_s": figure("node_kills", statistics.median),
            "node_killed_max_s": figure("node_kills", max),
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", type=Path, default=ROOT / "examples/membership/circuit.zkey")
    parser.add_argument("--witness", type=Path, default=ROOT / "examples/membership/witness.wtns")
    parser.add_argument("--air", type=Path, metavar="FOLDER", help="prove a STARK instead")
    parser.add_argument("--hash", default="poseidon2", help="of the STARK")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--kills", type=int, default=50, help="of workers")
    parser.add_argument("--stops", type=int, default=5, help="of workers, until the proof is made")
    parser.add_argument("--node-kills", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5, help="proofs that are measured")
    parser.add_argument("--divided", action="store_true", help="the workers evaluate the quotient together")
    parser.add_argument("--folder", help="each worker copies its slice to this folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--snarkjs", action="store_true", help="snarkjs verifies every proof, too")
    parser.add_argument("--record", type=Path, help="a CSV file, to which a line is added")
    options = parser.parse_args()
    options.key, options.witness = options.key.resolve(), options.witness.resolve()
    os.environ.update([MARK.split("=")], RAY_USAGE_STATS_ENABLED="0")
    campaign = Campaign(options)
    row = campaign.run()
    for name, value in row.items():
        print(f"{name:22} {value}")
    if options.record:
        is_new = not options.record.exists()
        with open(options.record, "a", newline="") as file:
            writer = csv.DictWriter(file, row, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(row)
    campaign.prover.close()
    return 1 if row["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
