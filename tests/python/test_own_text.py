"""A class's text, and what it uses, are part of its results."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perhop
from conftest import ROOT
from owned import DUMBBELL, SHORT, ran, same
from perhop import Runs, Scenario, own


def test_what_is_there_is_not_run_again_and_another_text_is(tmp_path: Path) -> None:
    def version(text: str) -> None:
        space: dict[str, Any] = {"perhop": perhop, "__name__": "elsewhere"}
        exec(
            f"class Versioned(perhop.Aqm):\n    def on_arrival(self, at, packet, rng):\n        return {text}\n", space
        )
        perhop.register(space["Versioned"])

    queue = '{ aqm = "versioned", limit = "50p" }'
    version('"pass"')
    first = ran(queue, out=tmp_path)
    assert [it.reused for it in ran(queue, out=tmp_path).replications] == [True]
    version('"drop" if at.backlog.packets > 3 else "pass"')
    second = ran(queue, out=tmp_path)
    assert [it.reused for it in second.replications] == [False]
    assert first.replications[0].hash != second.replications[0].hash


LIMIT = 3


def limit() -> int:
    return LIMIT


class Shared(perhop.Aqm):
    """Drops what finds `most` packets, of whoever comes from it."""

    most = 3

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        return "drop" if at.backlog.packets >= self.most else "pass"


def closed(most: int) -> None:
    class Closed(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "drop" if at.backlog.packets >= most else "pass"

    perhop.register(Closed)


def inherited(most: int) -> None:
    class Inherited(Shared):
        """As its base says."""

    Shared.most = most
    perhop.register(Inherited)


def helped(most: int) -> None:
    class Helped(perhop.Aqm):
        def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
            return "drop" if at.backlog.packets >= limit() else "pass"

    globals()["LIMIT"] = most
    perhop.register(Helped)


def twice(most: int) -> None:
    """Two classes of one name in one file."""
    if most == 3:

        class Twice(perhop.Aqm):
            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                return "drop" if at.backlog.packets >= 3 else "pass"

        perhop.register(Twice)
    else:

        class Twice(perhop.Aqm):  # type: ignore[no-redef]
            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                return "drop" if at.backlog.packets >= 30 else "pass"

        perhop.register(Twice)


@pytest.mark.parametrize("defined", [closed, inherited, helped, twice])
def test_what_a_class_uses_is_part_of_it(defined: Callable[[int], None], tmp_path: Path) -> None:
    """Registered again with another constant, it is the new one that runs, and results of the old one do not answer."""
    hashes: list[str] = []
    for most in (3, 30, 3):
        defined(most)
        runs = ran(f'{{ aqm = "{defined.__name__}", limit = "50p" }}', out=tmp_path)
        assert [it.reused for it in runs.replications] == [most == 3 and len(hashes) == 2]
        built_in = ran(f'{{ aqm = "drop-tail", limit = "{most}p" }}')
        assert same(runs, built_in, "flows", "links")
        hashes.append(runs.replications[0].hash)
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_constant_that_changes_later_is_another_text(tmp_path: Path) -> None:
    """As in a notebook, whose cell with the class does not run again."""
    helped(3)
    scenario = Scenario.from_toml(DUMBBELL, ['dumbbell.queue={ aqm = "helped", limit = "50p" }', SHORT])
    runs = [scenario.run(1, out=tmp_path)]
    for most in (30, 3):
        globals()["LIMIT"] = most
        runs.append(scenario.run(1, out=tmp_path))
    assert [it.replications[0].reused for it in runs] == [False, False, True]
    assert runs[0].replications[0].hash == runs[2].replications[0].hash != runs[1].replications[0].hash


def test_a_class_without_text_is_the_same_in_all_processes() -> None:
    """A set of texts has another order in each; workers of a cluster compare hashes."""
    hook = "def on_arrival(self, at, packet, rng): return 'drop' if packet.colour in {'red', 'green'} else 'pass'"
    told = "print(own.source(type('Set', (perhop.Aqm,), space)))"
    script = f"import perhop\nfrom perhop import own\nspace = {{}}\nexec({hook!r}, space)\n{told}"
    hashes = set[str]()
    for seed in "1234":
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "PYTHONHASHSEED": seed}
        made = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        hashes.add(made.stdout)
    assert len(hashes) == 1


def test_the_class_that_was_registered_last_runs() -> None:
    """Also if it has the text of the one before: what its instances share is its own."""
    made = []
    for _ in range(2):

        class Seen(perhop.Aqm):
            instances: list[Any] = []  # noqa: RUF012

            def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
                self.instances.append(self)
                return "pass"

        perhop.register(Seen)
        made.append(Seen)
        with pytest.warns(UserWarning, match="hooks of `seen` change an attribute of the class"):
            ran('{ aqm = "seen", limit = "50p" }')
    assert all(it.instances for it in made)


def test_results_of_another_text_are_opened(tmp_path: Path) -> None:
    closed(3)
    first = ran('{ aqm = "closed", limit = "50p" }', out=tmp_path)
    closed(30)
    opened = Runs.open(tmp_path)
    assert [it.hash for it in opened.replications] == [it.hash for it in first.replications]
    assert set(opened.means("arrivals", "throughput_bit_s")) == set(first.means("arrivals", "throughput_bit_s"))
    elsewhere = [sys.executable, "-c", f"import perhop; perhop.Runs.open({str(tmp_path)!r})"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    said = subprocess.run(elsewhere, env=environment, capture_output=True, text=True, check=False).stderr
    assert "is of an algorithm that is a Python class:" in said
    assert "help: import the class's module and `perhop.register` it in Python" in said


def test_points_whose_class_is_unknown_say_so(tmp_path: Path) -> None:
    """Where only the first queue is built in, a table that needs the scenarios in force says which it cannot read."""
    closed(3)
    queues = ['dumbbell.queue={ aqm = "drop-tail", limit = "50p" },{ aqm = "closed", limit = "50p" }']
    swept = Scenario.from_toml(DUMBBELL, ["scenario.duration=2s", "scenario.warmup=0s"], vary=queues)
    swept.run(2, out=tmp_path)
    words = [sys.executable, "-m", "perhop", "compare", os.fspath(tmp_path), "--by", "queue"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    said = subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stderr
    assert "no table `classes` here: " in said
    assert "queue_closed-" in said
    assert "is of an algorithm that is a Python class:" in said
    assert said.count("help: ") == 1, said
