#!/usr/bin/env python3
"""Times the commands of ceremonies, whole processes, against snarkjs's on the same files, in alternation.

    benchmarks/ceremony.py PROOFMILL POWER RECORD [--folder DIR] [--levels LEVEL,...] [--rounds N] [--own] [--circuit R1CS]

The first phase is of 2^POWER powers, the second of a circuit for which they suffice (by default the squares of 2^14 constraints that
.ci/install.sh's circom2 compiles, from POWER 14 on). --own leaves snarkjs out, for powers that take it hours. snarkjs must be in PATH.
Rows are appended to RECORD: seconds of wall and CPU time, medians over the rounds, and the peak of resident memory, mapped files included.
"""

import argparse
import csv
import datetime
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BEACON = ["0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "10"]
COLUMNS = ["date", "cpu", "cores", "power", "command", "implementation", "rounds", "wall_median_s", "cpu_median_s", "peak_mib"]


def run(command, folder):
    """Wall seconds, CPU seconds and MiB of a process."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        if process.returncode != 0:
            said.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: status {process.returncode}\n{said.read().decode()}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def cpu():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("proofmill", type=pathlib.Path)
    parser.add_argument("power", type=int)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--levels")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--circuit", type=pathlib.Path)
    options = parser.parse_args()
    proofmill, record = options.proofmill.resolve(), options.record.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    power = str(options.power)

    def own(*arguments, level=None):
        return [proofmill, *arguments, "--quiet", *(["--level", level] if level else [])]

    levels = options.levels.split(",") if options.levels else [None]
    if options.circuit:
        shutil.copy(options.circuit, folder / "circuit.r1cs")
    elif options.power >= 14:
        source = pathlib.Path(__file__).parent / "squares-2e14.circom"
        shutil.copy(source, folder / "circuit.circom")
        run(["circom2", "circuit.circom", "--r1cs"], folder)
    # What the timed commands read. snarkjs asks for --entropy on the terminal if it is not given.
    run(own("powersoftau", "new", "bn128", power, "0.ptau"), folder)
    run(own("powersoftau", "contribute", "0.ptau", "1.ptau"), folder)
    run(own("powersoftau", "beacon", "1.ptau", "2.ptau", *BEACON), folder)
    run(own("powersoftau", "prepare", "phase2", "2.ptau", "prepared.ptau"), folder)
    commands = [
        ["powersoftau", "new", "bn128", power, "out"],
        ["powersoftau", "contribute", "0.ptau", "out", "--entropy=x", "--name=x"],
        ["powersoftau", "beacon", "1.ptau", "out", *BEACON, "--name=x"],
        ["powersoftau", "prepare", "phase2", "2.ptau", "out"],
        ["powersoftau", "verify", "2.ptau"],
        ["powersoftau", "verify", "prepared.ptau"],
    ]
    if (folder / "circuit.r1cs").exists():
        run(own("groth16", "setup", "circuit.r1cs", "prepared.ptau", "0.zkey"), folder)
        run(own("zkey", "contribute", "0.zkey", "1.zkey"), folder)
        commands += [
            ["groth16", "setup", "circuit.r1cs", "prepared.ptau", "out"],
            ["zkey", "contribute", "0.zkey", "out", "--entropy=x", "--name=x"],
            ["zkey", "beacon", "1.zkey", "out", *BEACON, "--name=x"],
            ["zkey", "verify", "r1cs", "circuit.r1cs", "prepared.ptau", "1.zkey"],
        ]
    rows = []
    for command in commands:
        programs = {level or "proofmill": own(*command, level=level) for level in levels}
        if not options.own:
            # snarkjs 0.7.6 does not take its own `zkey verify r1cs`.
            programs["snarkjs"] = ["snarkjs", *(word for word in command if word != "r1cs")]
        samples = {name: [] for name in programs}
        for _ in range(options.rounds):
            for name, program in programs.items():
                samples[name].append(run(program, folder))
        words = " ".join(word for word in command if not word.startswith("-") and word not in (*BEACON, "out", power))
        for name, measured in samples.items():
            wall, seconds, memory = zip(*measured)
            medians = f"{statistics.median(wall):.4g}", f"{statistics.median(seconds):.4g}"
            row = [datetime.date.today(), cpu(), os.cpu_count(), power, words, name, len(measured), *medians, f"{max(memory):.0f}"]
            rows.append(row)
            print(*row[3:], flush=True)
    shutil.rmtree(folder)
    new = not record.exists()
    with record.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *rows] if new else rows)


main()
