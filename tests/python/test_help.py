"""Examples of each `--help` that Python carries out; those of the core's verbs are run by its own tests."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from conftest import Command

VERBS = ["plot", "report", "compare", "reproduce", "map"]
LONG = "--quick"
"""Takes minutes: the verb's other tests run it."""


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_of_a_help_runs(tmp_path: Path, perhop: Command, verb: str) -> None:
    assert perhop("init").returncode == 0
    base = ("run", "scenario.toml", "--duration", "8s", "--replications", "2")
    assert perhop(*base).returncode == 0
    for name in ("A", "B"):
        done = perhop(*base, "--seed", "1", "-s", f"scenario.name={name}", "-s", "conditioner.contract.cbs=20kB")
        assert done.returncode == 0, done.stderr
    sizes = ("-s", "scenario.name=sizes", "--vary", "conditioner.contract.cbs=20kB,50kB")
    assert perhop("sweep", *base[1:], *sizes).returncode == 0
    lines = perhop(verb, "--help").stdout.splitlines()
    examples = [line.removeprefix("  perhop ") for line in lines if line.startswith("  perhop ")]
    assert examples, f"`perhop {verb} --help` has no example"
    for example in examples:
        words = shlex.split(example)
        done = perhop(*words, *(["--list"] if LONG in words else []))
        assert done.returncode == 0, f"perhop {example}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("words", ["list studies", "reproduce --list", "map --list", "plot --list"])
def test_a_list_for_programs_names_what_its_text_names(perhop: Command, words: str) -> None:
    text, listed = (perhop(*words.split(), *more).stdout for more in ([], ["--json"]))
    found = json.loads(listed)
    first = next(iter(found["plots"])) if "plots" in found else next(iter(found[0].values()))
    assert len(found) > 1
    assert text.startswith(first)
