"""Ctrl-C: exit 130 within half a second, finished replications kept and used again."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import SCENARIO
from perhop import Runs
from waits import WAIT_S, begun, heard, rest, until

PATIENCE_S = 0.5

PYTHON = """
import sys, perhop
try:
    perhop.Scenario.from_toml(sys.argv[1]).run(400, out="runs", jobs=1, progress=False)
except KeyboardInterrupt:
    sys.exit(130)
"""

VERBS = {
    "run": ["-m", "perhop", "run", "small.toml", "--replications", "400", "-j", "1"],
    "sweep": ["-m", "perhop", "sweep", "small.toml", "--vary", "dumbbell.flows=4", "--replications", "400", "-j", "1"],
    "python": ["-c", PYTHON, "small.toml"],
}


def interrupted(command: Sequence[str], directory: Path) -> tuple[int, float, str]:
    """Exit code, seconds from the signal to the end, standard error; the signal comes when something is complete.

    Seconds for which the machine had no processor for it, or for this test, do not count.
    """
    with begun(command, directory, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        until(lambda: list(directory.glob("runs/*/*/rep*/manifest.json")), "a replication is finished", process)
        began = time.monotonic() - _delays(process)
        process.send_signal(signal.SIGINT)
        until(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), "its end")
        seconds = time.monotonic() - _delays(process) - began
        _, error = process.communicate(timeout=WAIT_S)
    return process.returncode, seconds, error


def _delays(process: subprocess.Popen[str]) -> float:
    """Seconds for which its main thread, or this one, could run and waited for a processor."""
    files = [Path(f"/proc/{pid}/schedstat").read_text() for pid in (process.pid, os.getpid())]
    return sum(int(file.split()[1]) for file in files) / 1e9


@pytest.mark.parametrize("verb", list(VERBS))
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, verb: str) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.replace('"6s"', '"60s"'))
    code, seconds, error = interrupted([sys.executable, *VERBS[verb]], tmp_path)
    assert code == 130, error
    assert "Traceback" not in error
    assert seconds < PATIENCE_S + 0.5, "half a second, and as much for the interpreter to end"
    kept = Runs.open(tmp_path / "runs")
    assert 2 <= len(kept) < 400
    assert not list(tmp_path.rglob("*.partial"))


def test_the_next_run_takes_what_is_finished(tmp_path: Path) -> None:
    from perhop import Scenario

    text = SCENARIO.replace('"6s"', '"60s"')
    (tmp_path / "small.toml").write_text(text)
    interrupted([sys.executable, *VERBS["python"]], tmp_path)
    kept = {r.replication: r.hash for r in Runs.open(tmp_path / "runs")}
    again = Scenario(text, "small.toml").run(max(kept) + 2, out=tmp_path / "runs")
    assert {r.replication: r.hash for r in again if r.reused} == kept
    assert [r.hash for r in again] == [r.hash for r in Scenario(text, "small.toml").run(max(kept) + 2)]


def test_ctrl_c_ends_reproduce(tmp_path: Path) -> None:
    """Python carries this verb out; a terminal shows each run that is done, when many are not."""
    command = [sys.executable, "-m", "perhop", "reproduce", "pf-fig7", "--seeds", "40", "--out", "out"]
    screen, terminal = pty.openpty()
    with begun(command, tmp_path, stderr=terminal, stdout=subprocess.DEVNULL) as process:
        os.close(terminal)
        heard(screen, " runs")
        process.send_signal(signal.SIGINT)
        error = rest(screen)
        os.close(screen)
        assert process.wait(WAIT_S) == 130, error
    assert "Traceback" not in error
    assert not list(tmp_path.rglob("results.json"))
