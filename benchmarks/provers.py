#!/usr/bin/env python3
"""Times whole provers, from start to written proof, in turn: wall and CPU seconds and peak memory.

    benchmarks/provers.py groth16 KEY.zkey WITNESS.wtns \\
        --peer 'rapidsnark=prover {zkey} {wtns} {proof} {public}' \\
        --peer 'snarkjs=snarkjs groth16 prove {zkey} {wtns} {proof} {public}'

Standard library only; Linux. Run it after `cargo build --release`. `--csv` prints records. `--threads N` holds every
program, peers included, to N cores. Linux counts the memory of the process that starts another into its peak, so a
peak below this script's own is left empty.
"""

import argparse
import os
import resource
import shlex
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
    """Wall seconds, CPU seconds, how many cores other processes kept busy meanwhile, and peak KiB."""
    busy, start = busy_seconds(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}: {complaint.decode().strip()}")
    cpu = usage.ru_utime + usage.ru_stime
    return wall, cpu, max(0.0, busy_seconds() - busy - cpu) / wall, usage.ru_maxrss


def peak_mib(kibibytes):
    """The highest peak, or nothing where this script's own memory hides it."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{max(kibibytes) / 1024:.0f}" if max(kibibytes) > own + 1024 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", choices=["groth16", "plonk"])
    parser.add_argument("zkey")
    parser.add_argument("wtns")
    parser.add_argument("--proofmill", default="target/release/proofmill", help="the binary (%(default)s)")
    parser.add_argument("--level", action="append", default=[], help="a level of Proofmill's; the best one without")
    parser.add_argument("--threads", type=int, help="cores of every program; all without")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="another prover")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds after one that warms up (%(default)s)")
    parser.add_argument("--csv", action="store_true")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if arguments.threads is not None:
        if not 1 <= arguments.threads <= len(cores):
            parser.error(f"--threads must be from 1 to {len(cores)}")
        os.sched_setaffinity(0, cores[-arguments.threads:])
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")

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
            provers[name] = [word.format(**files) for word in shlex.split(command)]

        samples = {name: [] for name in provers}
        for round_ in range(arguments.rounds + 1):
            for name, command in provers.items():
                sample = run(command)
                if round_:
                    samples[name].append(sample)

    first = next(iter(provers))
    base = statistics.median(wall for wall, _, _, _ in samples[first])
    circuit = os.path.basename(arguments.zkey)
    columns = ["circuit", "prover", "wall_median_s", "wall_min_s", "cpu_median_s", "slower_than_first", "others_cores",
               "peak_mib"]
    rows = []
    for name, taken in samples.items():
        walls, cpus, others, peaks = zip(*taken)
        wall = statistics.median(walls)
        figures = [wall, min(walls), statistics.median(cpus), wall / base, statistics.median(others)]
        rows.append([circuit, name, *(f"{figure:.3f}" for figure in figures), peak_mib(peaks)])
    if arguments.csv:
        for row in [columns, *rows]:
            print(",".join(row))
    else:
        widths = [max(map(len, column)) for column in zip(columns, *rows)]
        for row in [columns, *rows]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    noisy = max(float(row[-2]) for row in rows)
    if noisy > 0.2:
        print(f"warning: other processes kept {noisy:.1f} cores busy; repeat on a quiet machine", file=sys.stderr)


if __name__ == "__main__":
    main()
