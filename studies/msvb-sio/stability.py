"""Fig. 2: the queue while the load changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.msvb_sio.method import STEPS
from perhop_studies.msvb_sio.terms import LOOKS
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, at_least, at_most, greater, number

fig2 = Study("msvb-fig2", title="Fig. 2: dynamic load", runs="msvb-fig2")
STUDIES = [fig2]

FLOWS = (50, 100, 150, 200, 250, 300, 250, 200, 150, 100, 50, 50)
"""N in each step of 50 s."""
FIRST, MOST = 1, 6
"""Steps with N = 50 and N = 300 whose means make Delta."""

Rows = list[list[float]]
"""A row a replication, a column a step."""


def step_means(runs: Samples, scheme: str) -> Rows:
    """Mean queue of each step, packets."""
    return _by_step(runs, scheme, "queue")


def within_steps(runs: Samples, scheme: str) -> Rows:
    """Standard deviation over the last 40 s of each step, packets."""
    return _by_step(runs, scheme, "deviation")


def _by_step(runs: Samples, scheme: str, quantity: str) -> Rows:
    columns = [runs.values(f"{quantity}@{k}", scheme=scheme) for k in range(1, STEPS + 1)]
    return [list(row) for row in zip(*columns, strict=True)]


def width(runs: Samples, scheme: str) -> list[float]:
    """Largest step mean less the smallest, packets."""
    return [max(row) - min(row) for row in step_means(runs, scheme)]


def rise(runs: Samples, scheme: str) -> list[float]:
    """Delta: mean at N = 300 less mean at the first N = 50, packets."""
    return [row[MOST - 1] - row[FIRST - 1] for row in step_means(runs, scheme)]


def rank(runs: Samples, scheme: str) -> list[float]:
    """Spearman's correlation of mean queue and N over the steps."""
    return [measures.spearman(FLOWS, row) for row in step_means(runs, scheme)]


def slope(runs: Samples, scheme: str) -> list[float]:
    """Of the mean queue over N, packets a flow."""
    return [measures.slope(FLOWS, row) for row in step_means(runs, scheme)]


@fig2.measures
def steadiness(runs: Samples) -> Iterator[Value]:
    """The queue is steady within every step under MSVB and SIO; RED's rises with the load, MSVB's stays."""
    for scheme in ("msvb", "sio"):
        columns = zip(*within_steps(runs, scheme), strict=True)
        yield from (Value(f"{LOOKS[scheme].label} sd, step {k}", list(sd)) for k, sd in enumerate(columns, 1))
    yield Value("Delta RED", rise(runs, "red"))
    yield Value("|Delta| MSVB", [abs(x) for x in rise(runs, "msvb")])


def drops(runs: Samples, scheme: str) -> list[float]:
    """Of the packets that come to the bottleneck."""
    return runs.values("drops", scheme=scheme)


@fig2.claim("red-loses-more")
def red_loses_far_more(runs: Samples) -> Finding:
    """RED's losses are twenty times MSVB's or more."""
    red, msvb = drops(runs, "red"), drops(runs, "msvb")
    beyond = [100 * (a - 20 * b) for a, b in zip(red, msvb, strict=True)]
    note = f"RED {number(100 * stats.mean(red))} %, MSVB {number(100 * stats.mean(msvb))} %."
    return Finding([at_least("RED - 20 x MSVB, %", beyond, 0.0)], note)


@fig2.claim("narrower-range")
def the_queue_moves_less_than_reds(runs: Samples) -> Finding:
    """MSVB's queue is stable irrespective of the load, RED's is not."""
    red, msvb = width(runs, "red"), width(runs, "msvb")
    note = f"Range of the step means: RED {number(stats.mean(red))}, MSVB {number(stats.mean(msvb))}."
    return Finding([greater(Value("range RED", red), Value("range MSVB", msvb))], note)


@fig2.claim("half-the-rise")
def the_queue_rises_half_as_much(runs: Samples) -> Finding:
    """From 50 to 300 flows MSVB's queue rises by half of RED's rise or less."""
    red, msvb = ([abs(x) for x in rise(runs, scheme)] for scheme in ("red", "msvb"))
    left = [0.5 * a - b for a, b in zip(red, msvb, strict=True)]
    note = f"|Delta|: RED {number(stats.mean(red))}, MSVB {number(stats.mean(msvb))}."
    return Finding([at_least(".5 |Delta| RED - |Delta| MSVB", left, 0.0)], note)


@fig2.claim("follows-the-load")
def red_ranks_with_the_load(runs: Samples) -> Finding:
    """RED's queue follows the load; MSVB's does not."""
    found = stats.interval(slope(runs, "msvb"))
    ranked = at_most("Spearman MSVB", rank(runs, "msvb"), 0.6)
    flat = not (found.above(0.0) or found.below(0.0))
    either = Part(f"{ranked.name} or slope around 0", ranked.interval, True if flat else ranked.holds)
    note = f"MSVB's slope: {number(found.mean)} [{number(found.low)}, {number(found.high)}] packets a flow."
    return Finding([at_least("Spearman RED", rank(runs, "red"), 0.8), either], note)


@fig2.claim("sio-and-others")
def every_scheme(runs: Samples) -> Finding:
    """The same figures of all."""
    rows = [_row(runs, scheme) for scheme in LOOKS]
    return Finding([], "Packets; steps of 50 s.", rows, seeds=len(drops(runs, "msvb")))


def _row(runs: Samples, scheme: str) -> dict[str, Any]:
    means = [stats.mean(column) for column in zip(*step_means(runs, scheme), strict=True)]
    deviations = [stats.mean(column) for column in zip(*within_steps(runs, scheme), strict=True)]
    return {
        "scheme": LOOKS[scheme].label,
        "step means": means,
        "Delta": stats.mean(rise(runs, scheme)),
        "range": stats.mean(width(runs, scheme)),
        "Spearman": stats.mean(rank(runs, scheme)),
        "largest sd": max(deviations),
        "drops, %": 100 * stats.mean(drops(runs, scheme)),
        "utilisation": stats.mean(runs.values("utilisation", scheme=scheme)),
        "q < B": stats.mean(runs.values("below", scheme=scheme)),
    }
