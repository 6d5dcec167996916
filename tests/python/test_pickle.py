"""What the public names are travels to other processes, and can be copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perhop
from conftest import SCENARIO, SWEPT
from perhop import Runs, Scenario

COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def every() -> dict[str, Scenario]:
    small = Scenario.from_toml(SCENARIO)
    return {
        "text": small,
        "overrides and axes": Scenario(SCENARIO, "x.toml", {"dumbbell.flows": 3}, ["dumbbell.rtt=10ms,20ms"]),
        "dictionary": Scenario.from_dict(small.to_dict()),
        "sweep": Scenario.from_toml(SCENARIO + SWEPT),
    }


@pytest.mark.parametrize("way", list(COPIES))
@pytest.mark.parametrize("name", list(every()))
def test_a_scenario(name: str, way: str) -> None:
    one = every()[name]
    other = COPIES[way](one)
    assert other.points == one.points
    assert (other.name, other.to_toml(), other.warnings) == (one.name, one.to_toml(), one.warnings)
    assert [r.hash for r in other.run(1)] == [r.hash for r in one.run(1)]


def hashes(scenario: Scenario) -> list[str]:
    return [replication.hash for replication in scenario.run(1, jobs=1)]


def test_a_scenario_in_other_processes(small: Scenario) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(hashes, [small]) == [hashes(small)]


@pytest.mark.parametrize("way", list(COPIES))
def test_results_and_what_else_is_public(runs: Runs, way: str, tmp_path: Path) -> None:
    made = COPIES[way]
    again = made(runs)
    assert [r.hash for r in again] == [r.hash for r in runs]
    assert np.array_equal(again.table("flows")["goodput_bit_s"], runs.table("flows")["goodput_bit_s"])
    assert made(runs.points[0]) == runs.points[0]
    assert made(next(iter(runs.means("traffic", "jain").values()))).n == len(runs)
    built = Scenario.build("x").dumbbell(flows=1)
    assert made(built).to_dict() == built.to_dict()
    tuned = perhop.tune("svb", rate="10Mbit/s", classes=["rtt=120ms,flows=5"])
    assert made(tuned).toml == tuned.toml
    made(tuned).plot(tmp_path / "x.svg")


@pytest.mark.parametrize("way", list(COPIES))
def test_errors(way: str) -> None:
    with pytest.raises(perhop.ScenarioError) as caught:
        Scenario("x = 1")
    again = COPIES[way](caught.value)
    assert (str(again), again.diagnostics) == (str(caught.value), caught.value.diagnostics)
