"""Results of the bench: reading, tables, plots, and the program itself if it is built (PROOFMILL_BENCH_PROGRAM names it)."""

import hashlib
import io
import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, built, may_skip

import proofmill as pm
from proofmill.bench import BenchError

pytestmark = pytest.mark.usefixtures("usual_recursion")
EXPORT = Path(__file__).parent / "data/bench.json"
SCHEMA = ROOT / "lab/bench/src/store"
RECORDS = ROOT / "lab/records"


def make_store(path, runs, schema=2):
    """A store as the bench writes it, by its own statements."""
    connection = sqlite3.connect(path)
    connection.create_function("digest", 1, lambda text: hashlib.sha256(text.encode()).hexdigest()[:16])
    for run in runs:
        if run is runs[0]:
            connection.executescript((SCHEMA / "1.sql").read_text())
            connection.execute(f"PRAGMA application_id = {0x5066426E}")
            connection.execute("PRAGMA journal_mode = WAL")
        facts = json.dumps({name: value for name, value in run.items() if name != "measurements"})
        connection.execute("INSERT INTO runs (id, facts) VALUES (?, ?)", [run["id"], facts])
        for number, measurement in enumerate(run["measurements"], 1):
            row = [run["id"], number, json.dumps(measurement)]
            connection.execute("INSERT INTO measurements (run, number, measurement) VALUES (?, ?, ?)", row)
    if schema >= 2:
        connection.executescript((SCHEMA / "2.sql").read_text())
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.commit()
    connection.close()


@pytest.fixture
def results():
    return pm.bench.load(EXPORT)


@pytest.fixture
def runs():
    return json.loads(EXPORT.read_text())["runs"]


def test_rows(results):
    assert len(results) == 21 and repr(results) == "<proofmill.bench.Results: 21 rows of 2 runs>"
    row = results.rows[0]
    assert (row["family"], row["benchmark"], row["size"], row["implementation"]) == ("ntt", "bn254-fr", 1024, "portable")
    assert row["status"] == "measured" and row["samples"] == len(row["seconds"]) >= 6
    assert row["minimum"] == min(row["seconds"]) <= row["low"] <= row["median"] <= row["high"]
    assert row["per_second"] == 1024 / row["median"] and row["unit"] == "elements" and row["phases"] == []
    assert {row["status"]: row["detail"] for row in results.rows[-3:]} == {
        "failed": "the answer is wrong",
        "checked": "0123456789abcdef",
        "absent": "apt-get install openssl",
    }
    assert results.rows[-1]["size"] is None and results.rows[-1]["median"] is None
    assert len(results.warnings) == 2 and all("went to other processes" in warning for warning in results.warnings)
    assert results.runs[0]["machine"]["architecture"] == "x86_64" and list(results) == results.rows


def test_the_interval_is_that_of_the_bench():
    # From tables of the sign test: from six samples on, the interval leaves out ranks below these.
    from proofmill._records import interval_rank

    assert [interval_rank(count) for count in (1, 5, 6, 8, 9, 12, 15, 20, 25)] == [None, None, 0, 0, 1, 2, 3, 5, 7]


def test_select(results):
    assert len(results.select(family="ntt", threads=1, size=[1024, 4096])) == 8
    assert len(results.select(implementation={"adx", "avx2"}, family="ntt")) == 8
    assert len(results.select(family="groth16").runs) == 1 and len(results.select(family="none")) == 0
    with pytest.raises(ValueError, match="level: expected one of run, "):
        results.select(level="adx")


def test_a_store(results, runs, tmp_path, monkeypatch):
    for schema in (1, 2):
        path = tmp_path / f"{schema}.db"
        make_store(path, runs, schema)
        before = path.read_bytes()
        assert pm.bench.load(path).rows == results.rows and path.read_bytes() == before
        assert [found.name for found in tmp_path.glob(f"{schema}*")] == [path.name]
    monkeypatch.setenv("PROOFMILL_BENCH_DB", str(path))
    assert pm.bench.load().rows == results.rows
    monkeypatch.delenv("PROOFMILL_BENCH_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="proofmill/bench.db: there is no such file; `proofmill bench run` makes"):
        pm.bench.load()
    for run, count in {"example": 16, runs[0]["id"]: 16, runs[1]["id"]: 5, "latest": 5}.items():
        assert len(pm.bench.load(path, run=run)) == count
    for run in ("none", ""):
        with pytest.raises(ValueError, match="has no run"):
            pm.bench.load(path, run=run)


def test_a_store_while_a_run_goes_on(results, runs, tmp_path):
    path = tmp_path / "bench.db"
    make_store(path, runs)
    writer = sqlite3.connect(path)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM measurements")
    assert pm.bench.load(path).rows == results.rows
    writer.rollback()
    writer.close()


def test_a_store_that_cannot_be_written_to(results, runs, tmp_path):
    path = tmp_path / "bench.db"
    make_store(path, runs)
    os.chmod(path, stat.S_IRUSR)
    os.chmod(tmp_path, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert pm.bench.load(path).rows == results.rows
    finally:
        os.chmod(tmp_path, stat.S_IRWXU)


def test_stores_that_are_refused(runs, tmp_path):
    path = tmp_path / "bench.db"

    def refused(words, statement=None, content=None):
        path.unlink(missing_ok=True)
        make_store(path, runs)
        if statement:
            with sqlite3.connect(path) as connection:
                connection.execute(statement)
            connection.close()
        if content:
            path.write_bytes(content(path.read_bytes()))
        with pytest.raises(pm.Malformed, match=words) as caught:
            pm.bench.load(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)

    refused("not one of Proofmill's", "PRAGMA application_id = 5")
    refused("expected schema 2 or older, found 3", "PRAGMA user_version = 3")
    refused("the digest of a row is wrong", "UPDATE measurements SET measurement = replace(measurement, '0', '1')")
    refused("the digest of a row is wrong", "UPDATE runs SET facts = replace(facts, 'AMD', 'ADM')")
    refused(None, "DROP TABLE measurements")
    refused(None, content=lambda content: content[: len(content) // 2])
    refused(None, content=lambda content: content[:100] + bytes(len(content) - 100))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"format": 1}', b'{"format": 1, "runs": 5}', b'{"format": 1, "runs": [{}]}', b"\xff", b"[" * 100_000,
     b'{"format": 1, "runs": [{"id": "a", "measurements": [{}]}]}', b'{"format": 1, "runs": [{"id": "a", "measurements": [5]}]}',
     b'{"format": 1, "runs": [{"id": "a", "measurements": [{"row": {"family": "f"}, "outcome": {"status": "checked"}}]}]}'],
)  # fmt: skip
def test_exports_that_are_refused(content, tmp_path):
    path = tmp_path / "runs.json"
    path.write_bytes(content)
    with pytest.raises(pm.Malformed, match="runs.json: "):
        pm.bench.load(path)


def test_a_newer_export(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text('{"format": 2, "runs": []}')
    with pytest.raises(pm.Malformed, match="expected format 1, found 2"):
        pm.bench.load(path)


def test_records():
    results = pm.bench.load(RECORDS / "levels_zen4.csv")
    row = results.select(family="ntt", size=2**20, implementation="avx512ifma").rows[0]
    assert row["status"] == "measured" and row["median"] >= row["minimum"] > 0 and row["seconds"] == [] and row["low"] is None
    assert row["label"] == "levels_zen4" and len(results) > 100 and len(results.runs) > 1
    assert pm.bench.load(RECORDS / "groth16.csv").rows[0]["peak_memory"] == 12_000_000
    with pytest.raises(pm.Malformed, match="expected the columns family,"):
        pm.bench.load(RECORDS / "msm.csv")


def test_pandas(results):
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert len(frame) == 21 and frame["size"].dtype == "Int64" and frame["median"].dtype == "float64"
    assert frame["size"].isna().sum() == 1
    best = frame[frame.family == "ntt"].groupby("size")["per_second"].max()
    assert best.loc[1024] == max(row["per_second"] for row in results.select(family="ntt", size=1024))
    assert list(results.select(family="none").to_pandas().columns) == list(frame.columns)
    assert isinstance(frame, pandas.DataFrame)


def test_polars(results):
    polars = pytest.importorskip("polars")
    frame = results.to_polars()
    assert frame.height == 21 and frame.schema["size"] == polars.Int64 and frame["seconds"][0].len() >= 6
    assert frame.to_dicts() == results.rows
    assert results.select(family="none").to_polars().schema == frame.schema


def test_arrow(results):
    pytest.importorskip("pyarrow")
    table = results.to_arrow()
    assert table.num_rows == 21 and table.to_pylist() == results.rows
    assert results.select(family="none").to_arrow().schema == table.schema


@pytest.mark.parametrize("module, method", [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")])
def test_tables_without_their_package(results, module, method, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'proofmill\[{module}\]'"):
        getattr(results, method)()


def test_plots_without_matplotlib(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'proofmill\[plot\]'"):
        results.plot.levels()


@pytest.fixture
def matplotlib():
    """matplotlib, whose settings and figures of pyplot must not change."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = matplotlib.rcParams.copy()
    yield matplotlib
    assert matplotlib.rcParams == before and pyplot.get_fignums() == []


def drawn(ax):
    ax.figure.savefig(io.BytesIO(), format="svg")
    return ax


def texts(labels):
    return [label.get_text() for label in labels]


def test_scaling(results, matplotlib):
    ax = drawn(results.select(family="ntt", threads=1).plot.scaling())
    assert ax.get_title() == "ntt/bn254-fr, 1 thread" and ax.get_xlabel() == "size (elements)"
    assert ax.get_ylabel() == "time of an iteration" and "µs" in "".join(texts(ax.get_yticklabels())).replace("\N{GREEK SMALL LETTER MU}", "µ")
    assert texts(ax.get_legend().get_texts()) == ["portable", "adx", "avx2", "avx512ifma"][: len(ax.lines)]
    assert texts(ax.get_xticklabels()) == ["$2^{10}$", "$2^{12}$"]
    # Lines differ without colours.
    assert len({(line.get_marker(), line.get_linestyle()) for line in ax.lines}) == len(ax.lines) == 4
    ax = drawn(results.select(family="ntt", size=4096).plot.scaling(x="threads"))
    assert ax.get_xlabel() == "threads" and ax.get_title() == "ntt/bn254-fr, 2^12" and texts(ax.get_xticklabels()) == ["1", "2"]
    with pytest.raises(ValueError, match="x: expected size or threads"):
        results.plot.scaling(x="level")


def test_levels(results, matplotlib):
    ax = drawn(results.select(family="ntt", threads=1).plot.levels())
    assert texts(ax.get_yticklabels()) == ["2^10", "2^12"] and ax.get_xlabel() == "times faster than the slowest"
    assert len(ax.patches) == 8 and ax.patches[0].get_width() == 1
    assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in ax.patches}) == 4
    rows = {row["implementation"]: row["median"] for row in results.select(family="ntt", threads=1, size=1024)}
    ax = drawn(results.select(family="ntt", threads=1).plot.levels(against="adx"))
    assert ax.get_xlabel() == "times faster than adx" and ax.patches[0].get_width() == pytest.approx(rows["adx"] / rows["portable"])
    with pytest.raises(ValueError, match="nothing to plot"):
        results.plot.levels(against="none")


def test_phases(results, matplotlib):
    ax = drawn(results.plot.phases())
    assert texts(ax.get_yticklabels()) == ["portable", "avx2"] and ax.get_title() == "groth16/prove, 256, 1 thread"
    phases = results.select(family="groth16").rows[0]["phases"]
    assert texts(ax.get_legend().get_texts()) == [phase["name"] for phase in phases]
    assert ax.patches[0].get_width() == phases[0]["seconds"]
    for plot in (results.select(family="ntt").plot.phases, results.select(status="failed").plot.levels, results.select(status="failed").plot.scaling):
        with pytest.raises(ValueError, match="nothing to plot"):
            plot()


def test_axes_that_exist(results, matplotlib):
    from matplotlib.figure import Figure

    top, bottom = Figure().subplots(2)
    assert results.select(family="ntt").plot.levels(ax=top) is top and results.plot.phases(ax=bottom) is bottom
    drawn(top)


def test_the_last_measurement_counts(runs, tmp_path, matplotlib):
    path = tmp_path / "runs.json"
    again = {**runs[0], "id": "f" * 32, "began": "2030"}
    path.write_text(json.dumps({"format": 1, "runs": [again, runs[0]]}))
    results = pm.bench.load(path)
    assert results.runs[-1]["id"] == "f" * 32
    assert len(results.select(threads=1).plot.levels().patches) == 8


def test_the_program_is_not_there(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="^proofmill-bench: there is no such program in PATH; `cargo install"):
        pm.bench.run("msm")
    with pytest.raises(FileNotFoundError, match="^/none: "):
        pm.bench.run("msm", program="/none")


def script(path, text):
    path.write_text(f"#!{sys.executable}\nimport json, os, shutil, sys\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_command(tmp_path, results):
    text = f"""
json.dump(sys.argv[1:], open({str(tmp_path / "arguments")!r}, "w"))
shutil.copy({str(EXPORT)!r}, next(a for a in sys.argv if a.startswith("--json=")).partition("=")[2])
"""
    program = script(tmp_path / "bench", text)
    options = {"sizes": [2**10, "2^12"], "levels": ["adx", "avx2"], "threads": [1, "all"], "time": 0.05, "label": "a b", "store": tmp_path / "s"}
    found = pm.bench.run("ntt", "-msm", **options, check=True, peers=True, program=program)
    arguments = json.loads((tmp_path / "arguments").read_text())
    expected = ["--size=1024,2^12", "--level=adx,avx2", "--threads=1,all", "--label=a b", f"--db={tmp_path / 's'}", "--time=50ms"]
    assert arguments[:2] == ["run", "--quiet"] and arguments[2:-4] == [*expected, "--check", "--peers"]
    assert arguments[-4].startswith("--json=") and arguments[-3:] == ["--", "ntt", "-msm"]
    assert found.rows == results.rows


@pytest.mark.parametrize("text, words", [("sys.exit('no such\\nlevel')", "proofmill-bench: no such level$"), ("sys.exit(3)", "status 3"), ("", "no results")])
def test_a_program_that_fails(text, words, tmp_path):
    with pytest.raises(BenchError, match=words) as caught:
        pm.bench.run(program=script(tmp_path / "bench", text))
    assert caught.value.results is None and isinstance(caught.value, pm.Error)


def test_a_wrong_answer(tmp_path, results):
    text = f"""
shutil.copy({str(EXPORT)!r}, next(a for a in sys.argv if a.startswith("--json=")).partition("=")[2])
sys.exit("1 of 21 rows failed")
"""
    with pytest.raises(BenchError, match="1 of 21 rows failed") as caught:
        pm.bench.run(program=script(tmp_path / "bench", text))
    assert len(caught.value.results.select(status="failed")) == 1


def program():
    return built("proofmill-bench")


@pytest.mark.skipif(may_skip(program()), reason="proofmill-bench is not built: PROOFMILL_BENCH_PROGRAM names it")
def test_a_run(tmp_path, matplotlib):
    store = tmp_path / "bench.db"
    options = {"sizes": 2**10, "levels": "portable", "threads": 1, "time": 0.02, "program": program(), "store": store}
    results = pm.bench.run("ntt/bn254-fr", **options, label="mine")
    assert [row["implementation"] for row in results] == ["portable"] and results.rows[0]["status"] == "measured"
    assert pm.bench.load(store, run="mine").rows == results.rows
    drawn(results.plot.scaling())
    checked = pm.bench.run("groth16/verify", check=True, levels="portable", program=program(), store=store)
    assert {row["status"] for row in checked} == {"checked"}
    assert pm.bench.load(store).rows == [*results.rows, *checked.rows]
    with pytest.raises(BenchError, match="none-such"):
        pm.bench.run("ntt", levels="none-such", program=program(), store=store)
    export = tmp_path / "all.json"
    subprocess.run([program(), "export", "--db", store, "--out", export], check=True, capture_output=True)
    assert pm.bench.load(export).rows == pm.bench.load(store).rows
