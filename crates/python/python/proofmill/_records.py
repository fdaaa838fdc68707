"""Reads what ``proofmill bench`` measured: its store, its exports in JSON, and the records of the repository.

docs/store.md describes the first two, lab/records/README.md the third. Files are not changed.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import math
import sqlite3
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import Malformed

__all__ = ["COLUMNS", "read_runs", "rows_of_run"]

APPLICATION, NEWEST_SCHEMA, NEWEST_FORMAT = 0x5066_426E, 2, 1
MOST_BYTES = 64 << 20
RECORD = ["family", "benchmark", "implementation", "size", "threads", "run", "samples", "median_s", "min_s", "peak_mb", "others_share"]

# The columns of rows, with their types. All but those of the row's name may be None.
COLUMNS: dict[str, str] = {
    "run": "text", "label": "text", "suite": "text", "family": "text", "benchmark": "text", "size": "integer",
    "implementation": "text", "threads": "integer", "version": "text", "ended": "text", "status": "text", "detail": "text",
    "median": "number", "minimum": "number", "low": "number", "high": "number", "samples": "integer", "clock": "text",
    "per_second": "number", "amount": "number", "unit": "text", "cycles": "number", "instructions": "number",
    "peak_memory": "integer", "bytes_out": "integer", "watts": "number", "seconds": "numbers", "phases": "phases",
}  # fmt: skip


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The runs of a file, oldest first: each as in an export, with its ``measurements``."""
    with open(path, "rb") as file:
        is_store = file.read(16) == b"SQLite format 3\0"
    try:
        runs = of_store(path) if is_store else of_record(path) if path.suffix == ".csv" else of_export(path)
        for run in runs:
            if not isinstance(run["id"], str) or not isinstance(run["measurements"], list):
                raise TypeError
        return sorted(runs, key=lambda run: str(run.get("began", "")))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise malformed(path, f"not results of `proofmill bench` ({type(error).__name__})") from None


def malformed(path: Path, problem: str) -> Malformed:
    return Malformed(f"{path}: {problem}")


def of_store(path: Path) -> list[dict[str, Any]]:
    try:
        with contextlib.closing(open_store(path)) as connection:
            # One transaction, so that nothing changes in between.
            connection.execute("BEGIN")
            application, version = (
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
            if application != APPLICATION:
                raise malformed(path, "a SQLite database, but not one of Proofmill's results")
            if version > NEWEST_SCHEMA:
                raise malformed(path, f"expected schema {NEWEST_SCHEMA} or older, found {version}: update this package")
            digest = "digest" if version >= 2 else "NULL"
            runs = {}
            for key, facts, found in connection.execute(f"SELECT id, facts, {digest} FROM runs"):
                check(path, f"{key} {facts}", found)
                runs[key] = {**json.loads(facts), "id": key, "measurements": []}
            query = f"SELECT run, number, measurement, {digest} FROM measurements ORDER BY run, number"
            for key, number, measurement, found in connection.execute(query):
                check(path, f"{key} {number} {measurement}", found)
                runs[key]["measurements"].append(json.loads(measurement))
            return list(runs.values())
    except sqlite3.Error as error:
        old = ", which is too old" if sqlite3.sqlite_version_info < (3, 38) else ""
        raise malformed(path, f"{error} (SQLite {sqlite3.sqlite_version}{old})") from None


def open_store(path: Path) -> sqlite3.Connection:
    uri = path.resolve().as_uri()
    # Not mode=ro, by which the files of the write-ahead log would stay when the connection is closed.
    connection = sqlite3.connect(f"{uri}?mode=rw", uri=True, timeout=30, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, sqlite3.OperationalError) or path.with_name(f"{path.name}-wal").exists():
            raise
        # In a folder that cannot be written to, SQLite reads a file with a write-ahead log only if it cannot change.
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return connection


def check(path: Path, text: str, digest: str | None) -> None:
    if digest is not None and hashlib.sha256(text.encode()).hexdigest()[:16] != digest:
        raise malformed(path, "damaged: the digest of a row is wrong")


def of_export(path: Path) -> list[dict[str, Any]]:
    if path.stat().st_size > MOST_BYTES:
        raise malformed(path, f"expected at most {MOST_BYTES} bytes")
    content = json.loads(path.read_bytes())
    if content["format"] > NEWEST_FORMAT:
        raise malformed(path, f"expected format {NEWEST_FORMAT}, found {content['format']}: update this package")
    return list(content["runs"])


def of_record(path: Path) -> list[dict[str, Any]]:
    """The runs of a record that ``proofmill bench export --record`` has written."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        if lines.fieldnames != RECORD:
            raise malformed(path, f"expected the columns {','.join(RECORD)}: export runs to .json")
        runs: dict[str, dict[str, Any]] = {}
        for line in lines:
            new = {"id": f"{path.stem} {line['run']}", "label": path.stem, "measurements": []}
            run = runs.setdefault(line["run"], new)
            row = {name: line[name] for name in ("family", "benchmark", "implementation")}
            row |= {"size": size(line["size"]), "threads": int(line["threads"])}
            outcome: dict[str, Any] = {"status": "measured", "samples": int(line["samples"])}
            outcome |= {"median": float(line["median_s"]), "minimum": float(line["min_s"])}
            if line["peak_mb"]:
                outcome["peak_memory"] = int(line["peak_mb"]) * 10**6
            run["measurements"].append({"row": row, "outcome": outcome})
    return list(runs.values())


def size(text: str) -> int | None:
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1) if text else None


def rows_of_run(path: Path, run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each measurement of a run, with the names of ``COLUMNS``."""
    for measurement in run["measurements"]:
        try:
            yield row_of(run, measurement)
        except (KeyError, TypeError, ValueError, AttributeError, statistics.StatisticsError) as error:
            raise malformed(path, f"run {run['id']}: not a measurement ({type(error).__name__})") from None


def row_of(run: dict[str, Any], measurement: dict[str, Any]) -> dict[str, Any]:
    outcome = measurement["outcome"]
    known = {**measurement, **measurement["row"], **outcome, "run": run["id"], "label": run.get("label")}
    known["detail"] = outcome.get("reason") or outcome.get("remedy") or outcome.get("answer")
    known.setdefault("seconds", [])
    seconds = sorted(float(value) for value in outcome.get("seconds", ()))
    if seconds:
        known |= {"median": statistics.median(seconds), "minimum": seconds[0], "samples": len(seconds)}
        if (rank := interval_rank(len(seconds))) is not None:
            known |= {"low": seconds[rank], "high": seconds[-1 - rank]}
    if known.get("amount") is not None and known.get("median"):
        known["per_second"] = known["amount"] / known["median"]
    known["phases"] = [{"name": str(phase["name"]), "seconds": float(phase["seconds"])} for phase in outcome.get("phases", ())]
    row = {name: known.get(name) for name in COLUMNS}
    for name, kind in COLUMNS.items():
        if row[name] is not None:
            row[name] = CASTS[kind](row[name])
    if any(row[name] is None for name in ("family", "benchmark", "implementation", "threads", "status")):
        raise ValueError
    return row


CASTS: dict[str, Any] = {
    "text": str, "integer": int, "number": float, "numbers": lambda values: [float(value) for value in values], "phases": list,
}  # fmt: skip


def interval_rank(count: int) -> int | None:
    """The order statistic at which the 95 % interval of the median of so many samples begins, by the sign test. None below six samples."""
    below, rank = 0.0, None
    for place in range(count // 2):
        below += math.comb(count, place) / 2**count
        if 2 * below > 0.05:
            break
        rank = place
    return rank
