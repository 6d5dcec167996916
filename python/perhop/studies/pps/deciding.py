"""The scripted rule: which reading of the worked example and of Fig. 6 is frozen; see the head of `readings.toml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from perhop import stats
from perhop.studies import runs as simulation
from perhop.studies.pps.shares import FIG6, LINKS
from perhop.studies.pps.terms import SCHEMES, SIZES, Rates, Shares
from perhop.studies.pps.worked import EX1
from perhop.studies.readings import Readings
from perhop.studies.samples import Samples
from perhop.studies.trying import World

SEEDS = 3
FULL = 0.97
SETS = ("pps-ex1", "pps-ex1-limited", "pps-fig6")
PLAIN = {"b2": "plain p"}


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
        """Whether the link is full."""
        return self.utilisation >= FULL


@dataclass(frozen=True)
class Decision:
    """The whole grid, and what the rule takes."""

    rows: list[Row]
    smallest: Row
    chosen: Row

    def margin(self, row: Row) -> stats.Interval:
        """By how much a combination's errors are above the smallest, by replication."""
        return stats.paired(self.smallest.squares, row.squares)


def decide(world: World, readings: Readings) -> Decision:
    """Runs the grid and applies the rule.

    Raises:
        ValueError: no combination fills the link.
    """
    chosen = replace(world, budget=replace(world.budget, seeds=SEEDS))
    sets = [s for s in chosen.sets if s.name in SETS]
    combinations = readings.combinations("pps")
    rows = []
    for i, combination in enumerate(combinations):
        world.say(f"reading {i + 1} of {len(combinations)}")
        samples = chosen.simulate(sets, readings.settings(combination, "all"))
        rows.append(_row(combination, simulation.by_set(samples)))
    return by_rule(rows)


def by_rule(rows: list[Row]) -> Decision:
    """The smallest errors of those that fill the link; plain p instead if it cannot be told apart.

    Raises:
        ValueError: none fills it.
    """
    allowed = [row for row in rows if row.allowed]
    if not allowed:
        raise ValueError(f"no combination of readings has a utilisation of {FULL} in Fig. 6")
    smallest = min(allowed, key=lambda row: row.errors)
    plain = next(row for row in rows if row.readings == {**smallest.readings, **PLAIN})
    near = not stats.paired(smallest.squares, plain.squares).above(0.0)
    return Decision(rows, smallest, plain if plain.allowed and near else smallest)


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
