"""Every argument of the verbs that Python carries out, once: the lines of the core's own test, begun in earnest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import lab_stub
from conftest import ROOT
from perhop import Scenario
from perhop.__main__ import main
from test_lab_processes import PLAIN
from test_on_disk import SHORT

VERBS = ("plot", "report", "compare", "reproduce", "map")
LONG = ("reproduce", "map")
"""They take minutes: they show what they would run."""


def lines(verbs: tuple[str, ...]) -> Iterator[list[str]]:
    """Each verb's words with those of each of its arguments."""
    always: list[str] = []
    for line in (ROOT / "crates/cli/tests/options.txt").read_text().splitlines():
        words = shlex.split(line, comments=True)
        if line.startswith(" ") and always[0] in verbs:
            yield always + words[1:]
        elif words and not line.startswith(" "):
            always = words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What has been run."""
    folder = tmp_path_factory.mktemp("options")
    Scenario.from_toml(SHORT, vary=["dumbbell.flows=2,4"]).run(2, out=folder / "runs", progress=False)
    return folder


@pytest.mark.parametrize("line", list(lines(VERBS)), ids=" ".join)
def test_every_argument_begins(folder: Path, line: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    more = ["--list"] if line[0] in LONG and "--list" not in line else []
    assert main(["perhop", *line, *more]) == 0


def test_every_argument_of_lab_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kernel that is none."""
    text = PLAIN.replace("[traffic.t]", '[traffic.bulk]\nstart = "0s"\nspread = "0s"').replace("100kbit", "5Mbit")
    (tmp_path / "ok.toml").write_text(text)
    monkeypatch.setenv("PERHOP_LAB", lab_stub.install(tmp_path / "cache")["PERHOP_LAB"])
    monkeypatch.chdir(tmp_path)
    words = [word for line in lines(("lab",)) for word in line[2:]]
    assert main(["perhop", "lab", "ok.toml", *words]) == 0
    assert (tmp_path / "kept" / "scenario.out.json").exists()
