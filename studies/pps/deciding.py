"""The scripted rules: which TCP, and which reading of the worked example and of Fig. 6; see `readings.toml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from perhop import stats
from perhop_studies import runs as simulation
from perhop_studies.pps import diffserv, rtt
from perhop_studies.pps.shares import FIG6, LINKS
from perhop_studies.pps.terms import SCHEMES, SIZES, Rates, Shares
from perhop_studies.pps.worked import EX1
from perhop_studies.samples import Samples
from perhop_studies.trying import World

SEEDS = 3
FULL = 0.97
SETS = ("pps-ex1", "pps-ex1-limited", "pps-fig6")
WORDS = ({"b2": "plain p"}, {"b1": "5 s"})
"""What the paper says in words: taken where it cannot be distinguished from the smallest errors."""

ORACLE = {"b3": "real"}
"""No tag of 8 bits."""


SIGMA = {"a": 0.007, "b": 0.051}
"""Printed deviations of Reno in Table III, Mbit/s."""


@dataclass(frozen=True)
class Baseline:
    """One answer to b6 on what has no PPS in it."""

    value: str
    errors: float
    """Sum of squared relative errors over both sizes."""
    deviations: dict[tuple[int, str], float]
    """Reno's, by packet size and case, Mbit/s."""
    cells: dict[tuple[int, str, str], float]
    """DiffServ's rates, by packet size, profiles and flow, Mbit/s."""


def timers(world: World) -> list[Baseline]:
    """Every answer to b6, the one that the rule takes first."""
    plain = [s for s in world.sets if s.name == "pps-tab3" and s.at["scheme"] == "reno"]
    marked = [s for s in world.sets if s.name == "pps-tab4-diffserv" and s.at["rio"] == "first"]
    found = []
    reading = world.readings.by_id["b6"]
    for value in reading.values:
        world.say(f"b6: {value}")
        samples = world.simulate([*plain, *marked], reading.settings(value, "all"))
        found.append(_baseline(value, simulation.by_set(samples)))
    return sorted(found, key=lambda baseline: baseline.errors)


def _baseline(value: str, runs: Mapping[str, Samples]) -> Baseline:
    reno, marked = runs["pps-tab3"], runs["pps-tab4-diffserv"]
    deviations = {
        (size, case): stats.mean(rtt.ten(reno, case, "reno", size).deviation) for size in SIZES for case in SIGMA
    }
    cells = {
        (size, profile, flow): stats.mean(diffserv.diffserv(marked, profile, size).x(flow))
        for size in SIZES
        for profile, printed in diffserv.PUBLISHED.items()
        for flow in printed
    }
    errors = [found / SIGMA[case] - 1 for (_, case), found in deviations.items()]
    errors += [found / diffserv.PUBLISHED[profile][flow] - 1 for (_, profile, flow), found in cells.items()]
    return Baseline(value, math.fsum(e * e for e in errors), deviations, cells)


@dataclass(frozen=True)
class Row:
    """One combination of readings."""

    readings: dict[str, str]
    squares: list[float]
    """Sum of (y - 1)^2 over all flows of both set-ups, by replication."""
    worked: float
    """The worked example's part of it, all replications."""
    utilisation: float
    """Of Fig. 6's bottleneck, mean over its runs."""

    @property
    def errors(self) -> float:
        """The sum over all replications."""
        return math.fsum(self.squares)

    @property
    def allowed(self) -> bool:
        """Whether the link is full, by tags as published."""
        return self.utilisation >= FULL and not ORACLE.items() <= self.readings.items()


@dataclass(frozen=True)
class Decision:
    """The whole grid, and what the rule takes."""

    rows: list[Row]
    smallest: Row
    chosen: Row

    def margin(self, row: Row) -> stats.Interval:
        """By how much a combination's errors are above the smallest, by replication."""
        return stats.paired(self.smallest.squares, row.squares)


def decide(world: World) -> Decision:
    """Runs the grid and applies the rule.

    Raises:
        ValueError: no combination fills the link.
    """
    chosen = replace(world, budget=replace(world.budget, seeds=SEEDS))
    sets = [s for s in chosen.sets if s.name in SETS]
    combinations = world.readings.combinations("pps")
    rows = []
    for i, combination in enumerate(combinations):
        world.say(f"reading {i + 1} of {len(combinations)}")
        samples = chosen.simulate(sets, world.readings.settings(combination, "all"))
        rows.append(_row(combination, simulation.by_set(samples)))
    return by_rule(rows)


def by_rule(rows: list[Row]) -> Decision:
    """The smallest errors of those allowed; the paper's words instead where they cannot be distinguished.

    Raises:
        ValueError: none is allowed.
    """
    allowed = [row for row in rows if row.allowed]
    if not allowed:
        raise ValueError(f"no combination of readings has a utilisation of {FULL} in Fig. 6")
    smallest = min(allowed, key=lambda row: row.errors)
    chosen = smallest
    for words in WORDS:
        other = next(row for row in rows if row.readings == {**chosen.readings, **words})
        if other.allowed and not stats.paired(smallest.squares, other.squares).above(0.0):
            chosen = other
    return Decision(rows, smallest, chosen)


def _row(combination: dict[str, str], runs: Mapping[str, Samples]) -> Row:
    worked = _added([_squares(_case(runs, case), rates) for case, rates in EX1.items()])
    several = _squares(runs["pps-fig6"], FIG6)
    link = LINKS["pps-fig6"]
    utilisation = stats.mean(s.values[f"{link}.utilisation"] for s in runs["pps-fig6"].all)
    return Row(combination, _added([worked, several]), math.fsum(worked), utilisation)


def _case(runs: Mapping[str, Samples], case: str) -> Samples:
    return runs["pps-ex1-limited" if case == "limited" else "pps-ex1"].at(case=case)


def _squares(runs: Samples, rates: Rates) -> list[float]:
    """Sum over schemes, sizes and flows, by replication."""
    places = [runs.at(scheme=scheme, size=size) for scheme in SCHEMES for size in SIZES]
    return _added([[math.fsum((y - 1) ** 2 for y in row) for row in Shares.of(s, rates).ys] for s in places])


def _added(columns: list[list[float]]) -> list[float]:
    return [math.fsum(row) for row in zip(*columns, strict=True)]
