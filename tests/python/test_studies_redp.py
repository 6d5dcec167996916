"""REDP: claims on made-up runs, and what is read off the core's tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from perhop_studies import redp
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.papers import paper
from perhop_studies.redp import claims, ours, queues
from perhop_studies.redp.method import KINDS, spread
from perhop_studies.redp.terms import TCP, UDP
from perhop_studies.runs import Budget, RunSet
from perhop_studies.samples import Sample, Samples
from planted import by_set, samples_of

SEEDS = 10
PAPER = paper("redp")
CRITERIA = PAPER.criteria()
JUDGED = ("redp-fig5", "redp-fig6", "redp-fig8", "redp-fig9", "redp-udp")
"""How names of run sets begin that decide anything."""
HARD = [pytest.param(c, id=f"{c.study}/{c.claim}") for c in CRITERIA.claims if c.kind != "report"]

BY_DROP = {0: 86.0, 1: 50.0, 2: 10.0, 3: 20.0, 4: 30.0, 5: 40.0}
"""Deviation of green as Fig. 9 has it: least at .02."""
TOTAL = {0: 1200.0, 1: 1200.0, 2: 1199.0, 3: 1190.0, 4: 1180.0, 5: 1150.0}


def noise(seed: int) -> float:
    return 1 + 0.002 * ((seed * 7) % 5 - 2)


def tcp(of: RunSet, seed: int) -> dict[str, float]:
    """A run as published."""
    drop = of.at.get("drop", 2)
    green = dict.fromkeys(TCP, 175.0) if drop else dict(zip(TCP, (220.0, 25.0, 225.0, 230.0), strict=True))
    found: dict[str, float] = {f"{flow}.green": rate * noise(seed) for flow, rate in green.items()}
    share = BY_DROP[drop] * noise(seed)
    found |= {"std.green": share, "std.total": 1.7 * share, "std.yellow": 0.3 * share, "std.red": share}
    found |= {"least.green": min(green.values()) * noise(seed), "total": TOTAL[drop] * noise(0)}
    found |= {"green": 690.0 + drop, "yellow": 380.0 - 5 * drop - 0.1 * seed, "red": 100.0}
    found |= {"ER.in.green": 1050.0 - drop, "ER1.out.green": 690.0, "ER2.promoted": 2000.0, "ER2.dropped_early": 0.0}
    found |= {"cov": 0.4 - 0.05 * drop, "peak": 0.8 - 0.05 * drop, "lag": 1.0, "echo": 0.2, "queue": 20.0}
    found |= {"lost.CR1.overflow": 100.0, "ER1.in.green": 1050.0}
    for i, flow in enumerate(TCP):
        sent = 1.0 + 0.3 * (not drop) * (3 - i) if of.name != "redp-fig5" or drop else (3.0, 1.0, 1.0, 0.5)[i]
        found |= {f"{flow}.yellow": 90.0 * sent * noise(seed), f"{flow}.total": 300.0 * sent * noise(seed)}
        found |= {f"{flow}.came": 1000.0 * sent, f"{flow}.excess": 100.0 * sent, f"{flow}.demoted": 300.0 * sent}
        found |= {
            f"{flow}.dropped": 20.0 * sent,
            f"{flow}.promoted": 100.0 * sent,
            f"{flow}.lost": 0.01 / sent * noise(seed),
        }
    for router in ("CR1", "CR2"):
        found |= {f"at.{router}.{colour}": 1000.0 for colour in ("green", "yellow", "red")}
        lost = {"green": 1.0 + 9 * (not drop), "yellow": 30.0 + 20 * (not drop), "red": 100.0}
        found |= {f"lost.{router}.{colour}": n * noise(seed) for colour, n in lost.items()}
    return found


def datagrams(of: RunSet, seed: int) -> dict[str, float]:
    """Even under REDP; under the leaky bucket one flow has it all, if sources are strict."""
    _, rate = claims.RATES.get(of.at["point"], (2000.0, 700.0))
    unfair = of.at.get("marker") == "leaky" and of.at.get("sources") == "strict"
    left = (rate - 24, 8.0, 8.0, 8.0) if unfair else [(rate + claims.BUCKET / 60) / 4] * 4
    found = {f"{flow}.left": x * noise(seed) for flow, x in zip(UDP, left, strict=True)}
    received = {"total": 300.0, "green": 300.0, "yellow": 60.0, "promoted": 60.0}
    if of.at.get("colours") == 2:
        received["green"] = 250.0
    found |= {f"{flow}.{kind}": x * noise(seed) for flow in UDP for kind, x in received.items()}
    found |= {f"{flow}.came": 1000.0 * (i + 1) for i, flow in enumerate(UDP)}
    found |= {f"{flow}.demoted": 650.0 * (i + 1 if of.name == "redp-udp-rates" else 1) for i, flow in enumerate(UDP)}
    return {**found, "seconds": 60.0, "at.CR1.yellow": 1000.0, "lost.CR1.yellow": 980.0, "green": 1190.0}


def made(of: RunSet, seed: int) -> dict[str, float]:
    return datagrams(of, seed) if of.name.startswith("redp-udp") else tcp(of, seed)


def world(swapped: dict[str, tuple[Any, Any]] | None = None) -> dict[str, Samples]:
    """All runs of what is judged; `swapped` gives the runs of one value of an axis those of another."""
    sets = [s for s in PAPER.runs() if s.name.startswith(JUDGED)]
    samples = []
    for of in sets:
        at = dict(of.at)
        for axis, (a, b) in (swapped or {}).items():
            at[axis] = {a: b, b: a}.get(at.get(axis), at.get(axis))
        seeds = of.draws or SEEDS
        samples += [Sample(of.name, at, seed, made(of, seed)) for seed in range(seeds)]
    return by_set(samples)


def verdict(criterion: Criterion, runs: dict[str, Samples]) -> str:
    study = PAPER.study(criterion.study)
    return study.judge(criterion, samples_of(study, runs)).verdict


AS_PUBLISHED = world()


@pytest.mark.parametrize("criterion", HARD)
def test_a_world_as_published_is_reproduced(criterion: Criterion) -> None:
    below = criterion.claim == "green-below-ideal"
    assert verdict(criterion, AS_PUBLISHED) == "reproduced", below


TURNED = {
    "drop": ("redp-fig5/plain-is-biased", "redp-fig5/dropper-is-fairer", "redp-fig5/more-green-less-yellow",
             "redp-fig5/dropper-amount", "redp-fig6/steadier-queue", "redp-fig8/fairer"),
    "marker": ("redp-udp/strict-fairer-than-leaky", "redp-udp/strict-amount"),
}  # fmt: skip


@pytest.mark.parametrize("axis", TURNED)
def test_a_world_turned_round_is_not(axis: str) -> None:
    turned = world({axis: {"drop": (0, 2), "marker": ("redp", "leaky")}[axis]})
    for criterion in CRITERIA.claims:
        if f"{criterion.study}/{criterion.rule}" in TURNED[axis]:
            assert verdict(criterion, turned) == "not reproduced", criterion.claim


ONE_WRONG = {
    "redp-fig5/link-is-used": {"total": 1170.0},
    "redp-fig5/input-green": {"ER.in.green": 1081.0},
    "redp-fig8/dropper-rests-at-er2": {"ER2.dropped_early": 1.0},
    "redp-fig8/promotes": {"ER2.promoted": 0.0},
    "redp-fig8/green-below-ideal": {"green": 1001.0},
    "redp-fig8/green-amount": {"green": 590.0},
    "redp-fig8/keeps-green": {"green": 660.0},
    "redp-fig9/move-together": {"std.total": 5.0},
    "redp-fig9/aggregates-at-02": {"std.green": 60.0},
    "redp-fig9/total-falls-beyond": {"total": 1200.0},
}


@pytest.mark.parametrize("name", ONE_WRONG)
def test_one_quantity_beyond_its_bound_is_enough(name: str) -> None:
    study, _, rule = name.partition("/")
    changed = {n: Samples([_with(s, ONE_WRONG[name]) for s in runs.all]) for n, runs in AS_PUBLISHED.items()}
    [criterion] = [c for c in CRITERIA.of(study) if c.rule == rule]
    assert verdict(criterion, changed) == "not reproduced"


def _with(sample: Sample, values: dict[str, float]) -> Sample:
    return Sample(sample.runs, sample.at, sample.replication, {**sample.values, **values})


def test_the_least_deviation_must_be_at_the_published_choice() -> None:
    [criterion] = [c for c in CRITERIA.of("redp-fig9") if c.rule == "minimum-at-02"]
    runs = dict(AS_PUBLISHED)
    runs["redp-fig9"] = Samples(
        [_with(s, {"std.green": 9.0, "std.total": 15.0}) if s.at["drop"] == 3 else s for s in runs["redp-fig9"].all]
    )
    assert verdict(criterion, runs) == "not reproduced"
    assert claims.at(Samples([*runs["redp-fig5"].all, *runs["redp-fig9"].all]), 3).values("std.green")[0] == 9.0


def test_two_jittered_runs_in_forty_may_be_off_and_three_may_not() -> None:
    [criterion] = [c for c in CRITERIA.of("redp-udp") if c.claim == "jittered-2.0-0.7"]
    for off, expected in ((2, "reproduced"), (3, "not reproduced")):
        rows = [
            _with(s, {"udp1.left": 1.2 * s.values["udp1.left"], "udp2.left": 0.8 * s.values["udp2.left"]})
            if s.replication < off
            else s
            for s in AS_PUBLISHED["redp-udp"].all
        ]
        assert verdict(criterion, {"redp-udp": Samples(rows)}) == expected


# ---- the queue ------------------------------------------------------------------------------------


def slowly(counts: Any, k: int) -> float:
    """The textbook's estimate of an autocorrelation."""
    x = [float(c) for c in counts]
    centre = sum(x) / len(x)
    gaps = [v - centre for v in x]
    return sum(a * b for a, b in zip(gaps, gaps[k:], strict=False)) / sum(a * a for a in gaps)


def test_the_autocorrelation_is_the_textbooks() -> None:
    counts = np.random.default_rng(1).integers(0, 31, 400)
    found = queues.autocorrelation(counts, 50)
    assert found[0] == 1.0
    assert found == pytest.approx([slowly(counts, k) for k in range(51)], abs=1e-12)
    assert all(math.isnan(x) for x in queues.autocorrelation(np.full(100, 7), 5))


def test_a_periodic_queue_echoes_at_its_period() -> None:
    t = np.arange(10, 120, 0.01)
    waiting = np.rint(15 + 10 * np.sin(2 * np.pi * t / 2))
    names = np.full(len(t), "x", dtype=object)
    names[:] = queues.HOP
    kinds = np.full(len(t), "queue_packets", dtype=object)
    found = queues.measured({"hop": names, "quantity": kinds, "t_s": t, "value": waiting}, 110)
    assert found["echo"] > 0.9  # one period in 110 s is lost: 1 - 2/110
    assert found["lag"] == 2.0
    assert found["cov"] == pytest.approx(10 / math.sqrt(2) / 15, rel=0.01)  # of a sine


# ---- what is read off runs ------------------------------------------------------------------------


def one(name: str, **at: Any) -> Sample:
    sets = [s for s in PAPER.runs() if s.name == name and s.at == at]
    jobs = simulation.prepare(sets, Budget(seeds=1, jobs=1))
    return simulation.simulate(jobs, Budget(seeds=1, jobs=1), lambda *_: None)[0]


def test_every_packet_of_every_colour_is_accounted_for() -> None:
    run = one("beyond-colours", drop=2)
    assert run.values["leaf.green"] > 10_000
    assert min(run.values["ER1.green>dropped"], run.values["ER2.yellow>green"], run.values["lost.CR1.yellow"]) > 0
    for colour in ("green", "yellow", "red"):
        assert ours.left_over(run, colour) == 0
    run.values["ER2.yellow>green"] += 1
    assert (ours.left_over(run, "green"), ours.left_over(run, "yellow")) == (1, -1)


def test_rates_are_those_of_the_flows_together() -> None:
    run = one("redp-fig5", drop=0, buffer=30).values
    for kind in KINDS:
        each = [run[f"{flow}.{kind}"] for flow in TCP]
        assert run[kind] == pytest.approx(sum(each))
        assert run[f"std.{kind}"] == pytest.approx(spread(each))
        assert run[f"least.{kind}"] == min(each)
    assert run["total"] == pytest.approx(run["green"] + run["yellow"] + run["red"])
    # Green that leaves the marker is R, but for the bucket: 60 packets in 110 s are 4.4 kbit/s.
    assert run["ER.out.green"] == pytest.approx(700, abs=4.4)
    assert sum(run[f"{flow}.left"] for flow in TCP) == pytest.approx(run["ER.out.green"], rel=1e-9)
    assert run["ER.in.green"] == pytest.approx(run["ER.out.green"] + run["ER.out.yellow"])
    assert run["ER.demoted"] + run["ER.demoted_without_token"] == run["ER.green>yellow"]


def test_what_the_second_marker_promotes_is_told_by_flow() -> None:
    run = one("redp-udp-two", marker="redp", point="1.2").values
    promoted = [run[f"{flow}.promoted"] for flow in UDP]
    assert min(promoted) > 0
    assert sum(promoted) == pytest.approx(8 * run["ER2.promoted"] / run["seconds"], abs=0.5)
    assert run["ER1.promoted"] == 0


def test_a_flow_whose_every_packet_is_demoted_has_a_rate_of_zero() -> None:
    at = {"marker": "leaky", "sources": "strict", "point": "2.0-0.7"}
    sets = [s for s in PAPER.runs() if s.name == "redp-udp" and s.at == at]
    late = simulation.prepare(sets, Budget(seeds=1, jobs=1), {"scenario.warmup": "20s"})
    runs = simulation.simulate(late, Budget(seeds=1, jobs=1), lambda *_: None)
    assert min(run.values[f"{flow}.left"] for run in runs for flow in UDP) == 0


def test_an_answer_leaves_a_variant_what_makes_it_one() -> None:
    [kept] = [s for s in PAPER.runs() if s.name == "redp-fig5" and s.at == {"drop": 2, "buffer": 100}]
    [by_flow] = [s for s in PAPER.runs() if s.name == "redp-udp-flow" and s.at["point"] == "2.0-0.7"]
    readings = PAPER.readings()
    assert PAPER.answer(readings["buffer"], "50 packets", kept) == {}
    assert PAPER.answer(readings["packet"], "576 B", by_flow)["conditioner.boundary.cbs"] == "8640B"


def test_the_deviation_is_that_of_the_population() -> None:
    assert spread([1.0, 3.0]) == 1.0


def test_every_study_that_is_drawn_is_there() -> None:
    from perhop_studies.redp import figures

    assert set(figures.PICTURES) < {s.id for s in redp.PAPER.studies}
    assert set(ours.BUFFERS) == {s.at["buffer"] for s in PAPER.runs() if s.name == "beyond-map"}
    assert set(ours.LONGER) == {s.at["longer"] for s in PAPER.runs() if s.name == "beyond-phase"}


def test_readings_are_of_runs_that_exist() -> None:
    names = {s.name for s in PAPER.runs()} | {"all"}
    for reading in PAPER.readings().values():
        assert {key for value in reading.values.values() for key in value} <= names
