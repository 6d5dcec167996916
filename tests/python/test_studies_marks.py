"""Every key of a study's files is printed or assumed, and what is assumed has other answers that change it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from marks import FREE, Key, keys
from perhop_studies import runs as simulation
from perhop_studies.papers import PAPERS, paper
from perhop_studies.runs import Budget

Leaf = tuple[str, ...]
ONE = Budget(seeds=1)
FILES = [
    (name, file)
    for name in PAPERS
    for file in sorted({s.scenario for s in paper(name).runs() if not s.scenario.name.startswith("beyond")})
]
IDS = [f"{name}/{file.name}" for name, file in FILES]


def dotted(key: Key) -> str:
    return ".".join(key.path)


def swept(key: Key) -> tuple[str, ...]:
    """The key's own place, or that of the key that an axis sweeps."""
    return tuple(key.path[1].split(".")) if key.path[0] == "sweep" and len(key.path) == 2 else key.path


@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_every_key_is_printed_or_assumed(name: str, file: Path) -> None:
    found = [key for key in keys(file.read_text()) if dotted(key) not in FREE]
    assert [f"{file.name}:{key.line}: {dotted(key)}" for key in found if not key.printed + key.assumed] == []
    assert _unknown(name, found) == set()


@pytest.mark.parametrize("name", PAPERS)
def test_every_key_that_a_run_set_lays_is_printed_or_assumed(name: str) -> None:
    path = paper(name).directory / "runs.toml"
    laid = [k for k in keys(path.read_text()) if "set" in k.path or "set =" in k.text]
    axes = _axes(path)
    found = [k for k in laid if not _beyond(k) and (k.path[0] != "axes" or k.path[1] in axes)]
    assert [f"{path.name}:{key.line}: {dotted(key)}" for key in found if not key.printed + key.assumed] == []
    assert _unknown(name, found) == set()


def _beyond(key: Key) -> bool:
    return key.path[0].startswith("beyond")


def _axes(path: Path) -> set[str]:
    """The shared axes over which the paper's own sets are run."""
    stated = tomllib.loads(path.read_text())
    return {
        axis
        for name, one in stated.items()
        if name != "left-out" and not name.startswith("beyond")
        for axis in one.get("over", ())
    }


def _unknown(name: str, found: list[Key]) -> set[str]:
    """Assumptions without a reading, or whose reading has no other answer."""
    readings = paper(name).readings()
    return {one for key in found for one in key.assumed if one not in readings or not readings[one].others}


@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_an_answer_changes_the_keys_that_assume_its_reading(name: str, file: Path) -> None:
    assumed = {(one, swept(key)) for key in keys(file.read_text()) for one in key.assumed}
    reread = paper(name).reread
    untouched = [(one, path) for one, path in assumed if one not in reread and not _touches(name, file, one, path)]
    assert sorted(untouched) == []


def _touches(name: str, file: Path, reading: str, path: tuple[str, ...]) -> bool:
    section = re.sub(r"\{.*?\}", "*", path[1])
    return any(
        leaf[0] == path[0] and (path[0] == "links" or fnmatchcase(leaf[1], section))
        for leaf in changed(name, file, reading)
    )


def _named(series: str, name: str) -> bool:
    """Whether a name is the key's, or one of its series, `ftp{1..5}a`."""
    parts = re.split(r"\{[^}]*\}", series)
    return re.fullmatch(".+".join(map(re.escape, parts)), name) is not None


@cache
def changed(name: str, file: Path, reading: str) -> frozenset[Leaf]:
    """The places of all values in force that an answer changes in the runs of a file."""
    found: set[Leaf] = set()
    of = paper(name)
    one = of.readings()[reading]
    for runs in (s for s in of.runs() if s.scenario == file):
        for value in one.others:
            laid = of.answer(one, value, runs)
            if laid:
                before, after = (_in_force(runs, settings) for settings in ({}, laid))
                found |= {leaf for a, b in zip(before, after, strict=True) for leaf, _ in a ^ b}
        if found:
            break
    return frozenset(found)


def _in_force(runs: simulation.RunSet, settings: Mapping[str, Any]) -> list[set[tuple[Leaf, str]]]:
    [job] = simulation.prepare([runs], ONE, settings)
    return [set(_leaves((), tomllib.loads(place.effective))) for place in job.points]


def _leaves(at: Leaf, value: Any) -> Iterator[tuple[Leaf, str]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves((*at, key), below)
    else:
        yield (*at, ""), repr(value)


def test_marks_are_read_from_the_line_or_its_table() -> None:
    text = """
[tcp.host]                     # [P: section 2]
window = 20                    # 20 packets [A: window]
rto = { minimum = "1s" }       # as ns-2
[links]
"a - b" = { rate = "1#" }      # rate [P: Fig. 1], delay [A: delays]
list = [                       # [A: list]
  { a = 1 },
]
after = 1
"""
    found = {".".join(key.path): (key.printed, key.assumed) for key in keys(text)}
    assert found == {
        "tcp.host.window": ((), ("window",)),
        "tcp.host.rto": (("section 2",), ()),
        "links.a - b": (("Fig. 1",), ("delays",)),
        "links.list": ((), ("list",)),
        "links.after": ((), ()),
    }
