#!/usr/bin/env python3
"""Times the commands of ceremonies, whole processes, against snarkjs's on the same files, in alternation.

    lab/ceremony.py PROOFMILL POWER RECORD [--folder DIR] [--levels LEVEL,...] [--rounds N] [--own]

The first phase is of 2^POWER powers, the second of a chain of squares with as many rows. --own leaves snarkjs out, for powers that take it
hours. snarkjs must be in PATH.
Rows are appended to RECORD: seconds of wall and CPU time, medians over the rounds, and the peak of resident memory, mapped files included.
"""

import argparse
import csv
import datetime
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BEACON = ["0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "10"]
MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617
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


def write_squares(path, count):
    """A circuit over BN254: the public output is the private input after so many squarings."""
    # The wires: one, the output, the input, and the powers between.
    chain = [2, *range(3, count + 2), 1]
    header = struct.pack("<I32sIIIIQI", 32, MODULUS.to_bytes(32, "little"), count + 2, 1, 0, 1, count + 2, count)
    with path.open("wb") as file:
        file.write(struct.pack("<4sII", b"r1cs", 1, 3))
        file.write(struct.pack("<IQ", 1, len(header)) + header)
        one = (1).to_bytes(32, "little")
        term = struct.Struct("<II32s")
        file.write(struct.pack("<IQ", 2, count * 3 * term.size))
        for wire, square in zip(chain, chain[1:]):
            file.write(b"".join(term.pack(1, each, one) for each in (wire, wire, square)))
        labels = struct.pack(f"<{count + 2}Q", *range(count + 2))
        file.write(struct.pack("<IQ", 3, len(labels)) + labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("proofmill", type=pathlib.Path)
    parser.add_argument("power", type=int)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--levels")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--own", action="store_true")
    options = parser.parse_args()
    proofmill, record = options.proofmill.resolve(), options.record.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    power = str(options.power)

    def own(*arguments, level=None):
        return [proofmill, *arguments, "--quiet", *(["--level", level] if level else [])]

    levels = options.levels.split(",") if options.levels else [None]
    write_squares(folder / "circuit.r1cs", (1 << options.power) - 2)
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
