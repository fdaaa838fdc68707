"""Progress, signals and threads of long work."""

import io
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import LARGE

import proofmill as pm


@pytest.fixture(scope="module")
def large():
    return pm.groth16.ProvingKey(LARGE / "circuit.zkey"), pm.circom.Witness(LARGE / "witness.wtns")


def threads():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads:"))


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    raise TimeoutError


def test_callback(large):
    key, witness = large
    phases = []
    key.prove(witness, progress=phases.append).verify()
    assert phases[-1] == "verify" and "ntt" in phases
    key.prove(witness, progress=False)
    key.prove(witness, progress=None)


def test_callback_on_the_calling_thread(large):
    key, witness = large
    found = set()
    key.prove(witness, progress=lambda phase: found.add(threading.get_ident()))
    assert found == {threading.get_ident()}


def test_exception_of_callback_stops(large):
    key, witness = large
    seen = []

    def fail(phase):
        seen.append(phase)
        raise RuntimeError(phase)

    before = threads()
    with pytest.raises(RuntimeError):
        key.prove(witness, progress=fail)
    assert len(seen) == 1
    wait_for(lambda: threads() <= before)
    key.prove(witness).verify()


def test_tqdm(large, monkeypatch):
    pytest.importorskip("tqdm")
    key, witness = large
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    key.prove(witness, progress=True)
    assert "verify" in shown.getvalue()


def test_progress_without_tqdm(large, monkeypatch):
    key, witness = large
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    key.prove(witness, progress=True)
    assert shown.getvalue().endswith("verify\n")


def test_interrupt(large):
    key, witness = large
    before = threads()
    times = []

    def interrupt(number, frame):
        times.append(time.monotonic())
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with pytest.raises(KeyboardInterrupt):
            while True:
                key.prove(witness, threads=1, level="portable")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - times[0] < 1
    wait_for(lambda: threads() <= before)
    key.prove(witness).verify()


def test_other_threads_run(large):
    key, witness = large
    thread = threading.Thread(target=key.prove, args=(witness,), kwargs={"threads": 1, "level": "portable"})
    thread.start()
    count = 0
    while thread.is_alive():
        count += 1
    assert count > 1000


def test_many_threads_at_once(large):
    key, witness = large
    failures = []

    def prove():
        try:
            key.prove(witness, threads=1).verify()
        except BaseException as error:
            failures.append(error)

    all_of_them = [threading.Thread(target=prove) for _ in range(4)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    assert not failures
