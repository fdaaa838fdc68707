#!/usr/bin/env python3
"""Times whole provers, from start to written proof, in turn: wall and CPU seconds, medians and minima.

    benchmarks/provers.py groth16 KEY.zkey WITNESS.wtns \\
        --peer 'rapidsnark=prover {zkey} {wtns} {proof} {public}' \\
        --peer 'snarkjs=snarkjs groth16 prove {zkey} {wtns} {proof} {public}'

Standard library only; Linux. Run it after `cargo build --release`. `--csv` prints records.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time


def busy_seconds():
    """CPU seconds that all processes of the machine have taken, stolen time included."""
    with open("/proc/stat") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def run(command):
    """Wall seconds, CPU seconds and how many cores other processes kept busy meanwhile."""
    busy, start = busy_seconds(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}: {complaint.decode().strip()}")
    cpu = usage.ru_utime + usage.ru_stime
    return wall, cpu, max(0.0, busy_seconds() - busy - cpu) / wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", choices=["groth16", "plonk"])
    parser.add_argument("zkey")
    parser.add_argument("wtns")
    parser.add_argument("--proofmill", default="target/release/proofmill", help="the binary (%(default)s)")
    parser.add_argument("--level", action="append", default=[], help="a level of Proofmill's; the best one without")
    parser.add_argument("--threads", type=int, help="Proofmill's threads; all without")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="another prover")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds after one that warms up (%(default)s)")
    parser.add_argument("--csv", action="store_true")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        files = {
            "zkey": arguments.zkey,
            "wtns": arguments.wtns,
            "proof": os.path.join(scratch, "proof.json"),
            "public": os.path.join(scratch, "public.json"),
        }
        ours = [arguments.proofmill, arguments.protocol, "prove", *files.values()]
        if arguments.threads:
            ours += ["--threads", str(arguments.threads)]
        provers = {}
        for level in arguments.level or [None]:
            provers[f"proofmill {level or ''}".strip()] = ours + (["--level", level] if level else [])
        for peer in arguments.peer:
            name, _, command = peer.partition("=")
            provers[name] = [word.format(**files) for word in command.split()]

        samples = {name: [] for name in provers}
        for round_ in range(arguments.rounds + 1):
            for name, command in provers.items():
                sample = run(command)
                if round_:
                    samples[name].append(sample)

    first = next(iter(provers))
    base = statistics.median(wall for wall, _, _ in samples[first])
    circuit = os.path.basename(arguments.zkey)
    columns = ["circuit", "prover", "wall_median_s", "wall_min_s", "cpu_median_s", "slower_than_first", "others_cores"]
    rows = []
    for name, taken in samples.items():
        walls, cpus, others = zip(*taken)
        wall = statistics.median(walls)
        figures = [wall, min(walls), statistics.median(cpus), wall / base, statistics.median(others)]
        rows.append([circuit, name, *(f"{figure:.3f}" for figure in figures)])
    if arguments.csv:
        for row in [columns, *rows]:
            print(",".join(row))
    else:
        widths = [max(map(len, column)) for column in zip(columns, *rows)]
        for row in [columns, *rows]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    noisy = max(float(row[-1]) for row in rows)
    if noisy > 0.2:
        print(f"warning: other processes kept {noisy:.1f} cores busy; repeat on a quiet machine", file=sys.stderr)


if __name__ == "__main__":
    main()
