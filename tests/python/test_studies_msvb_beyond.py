"""MSVB and SIO: weighted shares, silent classes and what goes beyond the paper, on made-up runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from perhop_studies import runs as simulation
from perhop_studies.msvb_sio import beyond, by_class, idle
from perhop_studies.msvb_sio.method import derived
from perhop_studies.msvb_sio.terms import CLASSES, LINK, WEIGHTS
from perhop_studies.papers import paper
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample
from perhop_studies.verdict import Finding
from planted import by_set, samples_of

SEEDS = 10
PAPER = paper("msvb-sio")
CRITERIA = PAPER.criteria()
STUDIES = ("msvb-fig5", "msvb-fig6", "msvb-idle-class", "msvb-unused", "sio-recovery")
SETS = [s for s in PAPER.runs() if any(s.name in PAPER.study(name).sets for name in STUDIES)]
BIAS = {"rio": 0.12, "sio": 0.09, "wrr": 0.01, "msvb": 0.0}
"""By how much a class's part falls for each point of its weight."""
BENT = {"rio": 0.0, "sio": 0.2, "wrr": 0.4, "msvb": 0.5}


def values(of: RunSet, bias: dict[str, float]) -> dict[str, float]:
    """Parts by weight with a bias, waits that fall with it, one queue for all, a fifth for the five that send."""
    scheme = str(of.at.get("scheme", "msvb"))
    found = {"utilisation": 0.97, "drops": 0.0, "queue": 20.0, "deviation": 5.0, "in.drops": 0.0, "out.drops": 0.5}
    for i, (name, weight) in enumerate(WEIGHTS.items()):
        tilted = weight / 25 * (1 + bias.get(scheme, 0.0) * (2.5 - weight))
        busy = (0.2 if i < 5 else 0.0) if of.name == "msvb-idle-class" else tilted
        wait = 60.0 / weight if scheme == "wrr" else 20.0 * (1 + bias.get(scheme, 0.0) * i)
        found |= {f"{name}.throughput": busy * LINK, f"{name}.wait": wait, f"{name}.wait_deviation": wait / 3}
        found |= {f"{name}.drops": 0.01, **{f"{name}@{t}": 0.1 * LINK for t in range(1, 101)}}
    return found | {f"threshold@{t}": 20.0 for t in range(1, 101)} | {f"queue@{k}": 30.0 for k in range(1, 13)}


def world(bias: dict[str, float], change: Callable[[Sample], dict[str, float]] = lambda _: {}) -> list[Sample]:
    def noisy(of: RunSet, seed: int) -> dict[str, float]:
        return {key: x * (1 + 1e-4 * ((3 * seed + i) % 5)) for i, (key, x) in enumerate(values(of, bias).items())}

    samples = [Sample(of.name, of.at, seed, noisy(of, seed)) for of in SETS for seed in range(SEEDS)]
    changed = [(s, {**s.values, **change(s)}) for s in samples]
    return [Sample(s.runs, s.at, s.replication, {**found, **derived(found)}) for s, found in changed]


def judged(claim: str, samples: list[Sample]) -> Finding:
    [criterion] = [c for c in CRITERIA.claims if f"{c.study}/{c.claim}" == claim]
    study = PAPER.study(criterion.study)
    return study.judge(criterion, samples_of(study, by_set(samples)))


def spoilt(sample: Sample) -> dict[str, float]:
    """An idle link, and one drop more in one run with `silent`."""
    if sample.runs == "msvb-idle-class":
        return {"utilisation": 0.5, **{f"{name}.throughput": 0.1 * LINK for name in CLASSES}}
    silent = sample.runs == "msvb-silent" and sample.at["rule"] == "silent"
    return {"drops": 1e-9} if silent and sample.replication == 3 else {}


@cache
def holding() -> list[Sample]:
    """Runs in which the claims hold."""
    return world(BIAS)


def flat(sample: Sample) -> dict[str, float]:
    """The values that `spoilt` changes; under WRR, also the same wait for every class."""
    same = {f"{name}.{q}": 30.0 for name in CLASSES for q in ("wait", "wait_deviation")}
    return spoilt(sample) | (same if sample.at.get("scheme") == "wrr" else {})


@cache
def failing() -> list[Sample]:
    """Runs in which no claim holds."""
    return world(BENT, flat)


HARD = [f"{c.study}/{c.claim}" for c in CRITERIA.claims if c.study in STUDIES and c.kind == "hard"]


@pytest.mark.parametrize("claim", HARD)
def test_claims_hold_where_they_should(claim: str) -> None:
    found = judged(claim, holding())
    assert found.verdict == "reproduced", [str(part) for part in found.parts if not part.holds]


@pytest.mark.parametrize("claim", HARD)
def test_and_fail_where_they_should(claim: str) -> None:
    assert judged(claim, failing()).verdict == "not reproduced"


def test_runs_in_which_a_class_paused_are_left_out() -> None:
    """The one run with a drop more has a reason."""

    def paused(sample: Sample) -> dict[str, float]:
        silent = sample.runs == "msvb-silent" and sample.at["rule"] == "silent"
        return ({"silences": float(sample.replication == 3)} if silent else {}) | spoilt(sample)

    assert judged("msvb-idle-class/redistribute-same-marks", world(BIAS, paused)).verdict == "reproduced"


def test_reports_have_rows() -> None:
    reports = [f"{c.study}/{c.claim}" for c in CRITERIA.claims if c.study in STUDIES and c.kind == "report"]
    assert len(reports) == 5
    for claim in reports:
        found = judged(claim, holding())
        assert found.table
        assert (found.verdict, found.replications) == ("reported", SEEDS)


def test_when_all_are_even_again() -> None:
    """Class 7 has 12 % in the seconds that end at 51 to 60: a mean over five seconds with three of them is 11.2 %."""

    def late(sample: Sample) -> dict[str, float]:
        return {f"class7@{t}": 0.12 * LINK for t in range(51, 61)}

    runs = by_set(world({}, late))["msvb-idle-class"].at(case="later", queue="msvb")
    # The last such five seconds are those that end at 58 to 62; they begin at 57 s, so all is even from 58 s on.
    assert idle.settled(runs, 0) == 8.0

    def never(sample: Sample) -> dict[str, float]:
        return {f"class7@{t}": 0.12 * LINK for t in range(96, 101)}

    runs = by_set(world({}, never))["msvb-idle-class"].at(case="later", queue="msvb")
    assert math.isnan(idle.settled(runs, 0))


def test_waits_of_all_colours_together() -> None:
    """Three packets of 1 ms and one of 5: mean 2, variance 3; by hop and class."""
    summary = {
        "hop": ["Q", "Q", "Q", "R"],
        "class": ["a", "a", "b", "a"],
        "arrived_packets": [4, 1, 2, 9],
        "dropped_packets": [1, 0, 2, 9],
        "delivered_packets": [3, 1, 0, 9],
        "wait_mean_ms": [1.0, 5.0, None, 9.0],
        "wait_sd_ms": [0.0, 0.0, None, 9.0],
    }
    series = {"t_s": np.array([1.0, 1.5, 2.0]), "hop": np.array(["Q", "Q", "R"])}
    series |= {"quantity": np.array(["threshold_out_packets"] * 3), "value": np.array([7.0, 8.0, 9.0])}
    flows: dict[str, Any] = {"traffic": ["x", "y"], "class": ["a", "a"]}
    sampled = {"t_s": np.array([0.0, 0.0, 1.0, 1.0, 1.5, 2.0, 2.0]), "traffic": np.array(list("xyxyxxy"))}
    sampled["delivered_bytes"] = np.array([0, 0, 100, 50, 111, 200, 150])
    tables: dict[str, Any] = {"summary": summary, "series": series, "flows": flows, "flow_series": sampled}
    tables["tallies"] = {"quantity": ["other", "silences"], "value": [5, 2]}
    found = by_class.measured(tables, "Q")
    expected = {"a.wait": 2.0, "a.wait_deviation": math.sqrt(3), "a.drops": 0.2, "b.drops": 1.0, "threshold@1": 7.0}
    expected["silences"] = 2.0
    assert found == pytest.approx({**expected, "a@1": 1200.0, "a@2": 1600.0})


@pytest.mark.parametrize("name", ["msvb-fig5", "msvb-idle-class", "beyond-unused", "sio-laws", "sio-flood"])
def test_every_variant_is_a_sound_scenario(name: str) -> None:
    sets = [s for s in SETS if s.name == name]
    assert len(simulation.prepare(sets, Budget(seeds=1))) == len(sets) > 4


def test_laws_and_cases_are_those_of_the_runs() -> None:
    at = [s.at for s in SETS if s.name == "beyond-unused"]
    assert {a["case"] for a in at} == set(beyond.CASES)
    assert {a["rule"] for a in at} == set(beyond.RULES)
    assert {s.at["law"] for s in SETS if s.name == "sio-flood"} == set(beyond.LAWS)
