"""Standard output that takes no more: a closed pipe is silent, anything else is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command

FULL = Path("/dev/full")
VERBS = [
    ["reproduce", "--list"],
    ["list", "studies"],
    ["compare", "runs", "runs"],
    ["compare", "runs", "runs", "--json"],
    ["plot", "--list"],
    ["plot", "runs", "-o", "a.svg"],
    ["report", "runs", "-o", "a.html"],
]
WORDS = [" ".join(verb) for verb in VERBS]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a finished run."""
    from conftest import SCENARIO
    from perhop import Scenario

    folder = tmp_path_factory.mktemp("place")
    Scenario.from_toml(SCENARIO).run(2, out=folder / "runs")
    return folder


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def _buffering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", request.param)


@pytest.mark.usefixtures("_buffering")
@pytest.mark.parametrize("verb", VERBS, ids=WORDS)
def test_a_closed_pipe_is_silent(place: Path, verb: list[str]) -> None:
    command = [sys.executable, "-m", "perhop", *verb]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, cwd=place, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.usefixtures("_buffering")
@pytest.mark.parametrize("verb", VERBS, ids=WORDS)
def test_a_full_device_is_an_error(place: Path, verb: list[str]) -> None:
    if not FULL.exists():
        pytest.skip("no /dev/full on this machine")
    command = [sys.executable, "-m", "perhop", *verb]
    with FULL.open("w") as full:
        done = subprocess.run(command, cwd=place, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


def test_what_is_read_from_a_pipe_is_whole(place: Path, perhop: Command) -> None:
    done = perhop("compare", "runs", "runs", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
