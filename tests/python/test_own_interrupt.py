"""A signal ends runs with Python classes: no hook is called much longer, no process stays, what is finished is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from owned import DUMBBELL
from waits import WAIT_S, until

CLASS = """
import os, signal, sys, time, perhop

@perhop.register
class Slow(perhop.Aqm):
    name = "slow"
    def on_arrival(self, at, packet, rng):
        with open("calls", "ab", buffering=0) as calls:
            calls.write(b".")
        {body}
        return "pass"

signal.signal(signal.SIGINT, signal.default_int_handler)
queue = 'dumbbell.queue={{ aqm = "slow", limit = "50p" }}'
file, length = {file!r}, ["scenario.duration={duration}", "scenario.warmup=1s", queue]
rest = ["--out", "out", *(it for key in length for it in ("-s", key))]

def main(command):
    from perhop.__main__ import main
    sys.exit(main(command))

"""
ENDLESS = """if at.now > 1.2:
            while True:
                pass"""
WAITS = "time.sleep(0.005)"
RUNS = {
    "alone": "perhop.Scenario.from_toml(file, length).run(1, out='out', progress=False)",
    "many": "perhop.Scenario.from_toml(file, length).run(6, jobs=2, out='out', progress=False)",
    "sweep": "perhop.Scenario.from_toml(file, length).sweep({'dumbbell.flows': [2, 3, 4]}, replications=2, jobs=2,"
    " out='out', progress=False)",
    "step": "perhop.Session(perhop.Scenario.from_toml(file, length)).step('3s')",
    "until": "perhop.Session(perhop.Scenario.from_toml(file, length)).until('3s')",
    "verb": "main(['perhop', 'run', file, '-j', '1', '--replications', '2', *rest])",
    "threads": "main(['perhop', 'sweep', file, '-j', '3', '--replications', '2', '--vary', 'dumbbell.flows=2', *rest])",
}
BY_VERB = {"verb", "threads"}
MOST = 2000
"""Hooks that may still be called: a second of those that wait for 5 ms, in each of ten processes. A run has 10^5."""


@pytest.fixture(autouse=True)
def responds_to_interrupts() -> Iterator[None]:
    """Tests in the background ignore Ctrl-C, and what they start would as well."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def calls(folder: Path) -> int:
    place = folder / "calls"
    return place.stat().st_size if place.exists() else 0


def begun(folder: Path, call: str, body: str, duration: str = "300s") -> subprocess.Popen[str]:
    """A process in a session of its own that carries out a call with such hooks, once some were called."""
    (folder / "slow.py").write_text(CLASS.format(body=body, file=str(DUMBBELL), duration=duration) + call + "\n")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "slow.py"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    until(lambda: calls(folder) > 3, "a hook is called", process)
    return process


def ended(process: subprocess.Popen[str]) -> str:
    """What it said; all that it started has ended too."""
    _, said = process.communicate(timeout=WAIT_S)
    until(lambda: not _members(process.pid), "the end of its processes")
    return said


def _members(session: int) -> list[int]:
    """Processes of a session."""
    stats = [it.read_text() for it in Path("/proc").glob("[0-9]*/stat") if it.exists()]
    fields = [it.rpartition(")")[2].split() for it in stats]
    return [int(of[1]) for of in fields if int(of[3]) == session and of[0] != "Z"]


@pytest.mark.parametrize("body", [WAITS, ENDLESS], ids=["short hooks", "an endless hook"])
@pytest.mark.parametrize("name", list(RUNS))
def test_ctrl_c_ends_a_run_with_a_class(tmp_path: Path, name: str, body: str) -> None:
    process = begun(tmp_path, RUNS[name], body)
    os.killpg(process.pid, signal.SIGINT)
    before = calls(tmp_path)
    said = ended(process)
    assert calls(tmp_path) < before + MOST
    if name in BY_VERB:
        assert process.returncode == 130, said
        assert "Traceback" not in said
    else:
        assert said.splitlines()[-1].startswith("KeyboardInterrupt"), said
        assert process.returncode == -signal.SIGINT
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("name", ["many", "verb", "threads"])
def test_sigterm_ends_it_too(tmp_path: Path, name: str) -> None:
    """To the one process, as `kill` sends it: those that it started end as well."""
    process = begun(tmp_path, RUNS[name], WAITS)
    process.terminate()
    before = calls(tmp_path)
    said = ended(process)
    assert process.returncode == (143 if name in BY_VERB else -signal.SIGTERM), said
    assert calls(tmp_path) < before + MOST


@pytest.mark.parametrize("name", ["many", "threads"])
def test_what_is_finished_is_kept(tmp_path: Path, name: str) -> None:
    process = begun(tmp_path, RUNS[name].replace("run(6", "run(400").replace("'2'", "'400'"), "", "2s")
    done = "out/*/*/rep*/manifest.json"
    until(lambda: list(tmp_path.glob(done)), "a replication is finished", process)
    os.killpg(process.pid, signal.SIGINT)
    ended(process)
    assert 1 <= len(list(tmp_path.glob(done))) < 400
    assert not list(tmp_path.rglob("*.partial"))


def test_a_process_that_is_killed_ends_the_run_with_an_error(tmp_path: Path) -> None:
    process = begun(tmp_path, RUNS["many"], WAITS)
    until(lambda: len(_members(process.pid)) > 2, "two processes of it", process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    said = ended(process)
    assert "RunError: a process that ran replications has ended: exit code -9" in said.splitlines()[-1]
