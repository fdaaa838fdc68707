"""Measurements of ``proofmill bench``: starts it, reads its results, and plots them. Nothing is measured in Python.

    results = proofmill.bench.run("msm/bn254-g1", sizes=[2**12, 2**14], levels="all", threads=1)
    results.plot.levels().figure.savefig("levels.svg")
    results.to_pandas()
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import Error, _places
from ._plots import Plots
from ._records import COLUMNS, read_runs, rows_of_run

if TYPE_CHECKING:
    import pandas as _pandas  # type: ignore
    import polars as _polars
    import pyarrow as _pyarrow  # type: ignore

__all__ = ["BenchError", "Plots", "Results", "load", "run"]

PROGRAM = "proofmill-bench"
# What a command prints before its error is not shown.
MOST_ERROR_CHARACTERS = 1000


class BenchError(Error):
    """``proofmill-bench`` failed, or an answer was wrong; then ``results`` has the rows, and those that failed say why."""

    def __init__(self, message: str, results: Results | None = None) -> None:
        super().__init__(message)
        self.results = results


class Results:
    """Rows of measurements.

    ``rows`` is a list of dicts, one for each benchmark, size, implementation and number of threads. ``status`` says whether it was
    measured; times are seconds of an iteration: ``median``, ``minimum``, the 95 % interval ``low`` to ``high`` of the median, and
    ``seconds`` of all samples. ``per_second`` counts what ``unit`` says; ``peak_memory`` is in bytes. What is unknown is None.
    ``runs`` has machine, command and noise of each run, as the bench exports them.
    """

    def __init__(self, rows: list[dict[str, Any]], runs: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.runs = runs

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<proofmill.bench.Results: {len(self.rows)} rows of {len(self.runs)} runs>"

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt the times: what disturbed the runs."""
        return [str(warning) for run in self.runs for warning in (run.get("noise") or {}).get("warnings", ())]

    def select(self, **wanted: Any) -> Results:
        """The rows with these values: ``select(family="msm", threads=1, implementation=["avx2", "adx"])``."""
        if unknown := wanted.keys() - COLUMNS.keys():
            raise ValueError(f"{min(unknown)}: expected one of {', '.join(COLUMNS)}")

        def fits(row: dict[str, Any], name: str, value: Any) -> bool:
            is_choice = isinstance(value, Collection) and not isinstance(value, str)
            return row[name] in value if is_choice else bool(row[name] == value)

        rows = [row for row in self.rows if all(fits(row, name, value) for name, value in wanted.items())]
        names = {row["run"] for row in rows}
        return Results(rows, [run for run in self.runs if run["id"] in names])

    @property
    def plot(self) -> Plots:
        """Plots, which need matplotlib."""
        return Plots(self.rows)

    def to_pandas(self) -> _pandas.DataFrame:
        """The rows as a frame of pandas. Integers that may be missing have the type Int64."""
        types = {"integer": "Int64", "number": "float64"}
        frame = needed("pandas").DataFrame(self.rows, columns=list(COLUMNS))
        return frame.astype({name: types[kind] for name, kind in COLUMNS.items() if kind in types})

    def to_polars(self) -> _polars.DataFrame:
        """The rows as a frame of Polars."""
        polars = needed("polars")
        phase = polars.Struct({"name": polars.String, "seconds": polars.Float64})
        types = {
            "text": polars.String, "integer": polars.Int64, "number": polars.Float64,
            "numbers": polars.List(polars.Float64), "phases": polars.List(phase),
        }  # fmt: skip
        frame: _polars.DataFrame = polars.DataFrame(self.rows, schema={name: types[kind] for name, kind in COLUMNS.items()})
        return frame

    def to_arrow(self) -> _pyarrow.Table:
        """The rows as a table of Arrow."""
        arrow = needed("pyarrow")
        phase = arrow.struct([("name", arrow.string()), ("seconds", arrow.float64())])
        types = {
            "text": arrow.string(), "integer": arrow.int64(), "number": arrow.float64(),
            "numbers": arrow.list_(arrow.float64()), "phases": arrow.list_(phase),
        }  # fmt: skip
        return arrow.Table.from_pylist(self.rows, schema=arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()]))


def load(path: str | os.PathLike[str] | None = None, run: str | None = None) -> Results:
    """Reads results: the store (by default that of this user, or of PROOFMILL_BENCH_DB), a file of ``proofmill bench export`` in JSON, or a
    CSV file of the repository's lab/records. ``run`` is the beginning of a run's id, its label, or ``latest``.

    Raises FileNotFoundError, Malformed, and ValueError if there is no such run.
    """
    path = _places.bench_store() if path is None else Path(path)
    try:
        runs = read_runs(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file; `proofmill bench run` makes a store") from None
    if run is not None:
        chosen = runs[-1:] if run == "latest" else [one for one in runs if run and (one["id"].startswith(run) or one.get("label") == run)]
        if not chosen:
            raise ValueError(f"run: {path} has no run {run!r}")
        runs = chosen
    return results_of(path, runs)


def run(
    *patterns: str,
    sizes: Sequence[int | str] | int | str | None = None,
    levels: Sequence[str] | str | None = None,
    threads: Sequence[int | str] | int | str | None = None,
    time: float | None = None,
    check: bool = False,
    peers: bool = False,
    label: str | None = None,
    store: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] | None = None,
) -> Results:
    """Measures by ``proofmill-bench run``, which must be in PATH, or be ``program``. Blocks for about ``time`` seconds (by default one) for
    each row. The rows also go to the store as soon as they are measured, so that those before a KeyboardInterrupt are not lost.

    A pattern is any part of family/benchmark/size; without one, all is measured. ``levels`` and ``threads`` may be ``"all"``. With
    ``check``, answers are compared and nothing is timed. With ``peers``, other libraries are measured in alternation.

    Raises FileNotFoundError without the program, and BenchError if it fails or an answer is wrong.
    """
    found = shutil.which(PROGRAM if program is None else program)
    if found is None:
        raise FileNotFoundError(f"{program or PROGRAM}: there is no such program in PATH; `cargo install --path lab/bench` installs it")
    options = {"--size": sizes, "--level": levels, "--threads": threads, "--label": label, "--db": store}
    options |= {"--time": None if time is None else f"{max(1, round(1000 * time))}ms"}
    command = [found, "run", "--quiet"]
    command += [f"{name}={listed(value)}" for name, value in options.items() if value is not None]
    command += [name for name, is_set in {"--check": check, "--peers": peers}.items() if is_set]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        ended = subprocess.run(
            [*command, f"--json={path}", "--", *patterns], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        results = results_of(path, read_runs(path)) if path.exists() else None
    if ended.returncode:
        said = " ".join(ended.stderr.split())[-MOST_ERROR_CHARACTERS:]
        raise BenchError(f"{PROGRAM}: {said or f'it ended with status {ended.returncode}'}", results)
    if results is None:
        raise BenchError(f"{PROGRAM}: it wrote no results")
    return results


def results_of(path: Path, runs: list[dict[str, Any]]) -> Results:
    rows = [row for run in runs for row in rows_of_run(path, run)]
    return Results(rows, [{name: value for name, value in run.items() if name != "measurements"} for run in runs])


def listed(value: Any) -> str:
    """A value of an option, or several with commas."""
    return ",".join(map(str, value)) if isinstance(value, Collection) and not isinstance(value, str) else str(value)


def needed(module: str) -> Any:
    """A module that is not installed with this package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'proofmill[{module}]'", name=module) from None
