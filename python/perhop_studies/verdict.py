"""From samples to a verdict: bounds, bands and paired comparisons over replications.

A condition is a `Part`: what was measured, its 95 % t-interval, and whether it holds. A claim is a `Finding` of one
or several parts. The rules are those at the head of a paper's `criteria.toml`:

- a bound is decided by the mean, a comparison needs its whole interval on the stated side;
- with fewer than `FULL` replications nothing is decided while the `EARLY` interval contains the bound. For a normal
  mean the true value is then on the other side of the bound with a probability of at most (1 - EARLY)/2 at each look
  at the data, so of at most 1 % at two looks before the last, however they depend on each other (union bound).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from perhop import stats
from perhop_studies import measures

FULL = 10
"""Number of replications from which every claim is decided."""

EARLY = 0.99
"""Confidence of the interval that decides with fewer."""

REPRODUCED, NOT_REPRODUCED, UNDECIDED, REPORTED = "reproduced", "not reproduced", "undecided", "reported"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, REPORTED)


Values = Sequence[float]
"""By replication."""
Row = Mapping[str, object]
"""Of a table that a claim reports: text, numbers or lists of numbers, by column."""


class Value(NamedTuple):
    """Something measured, and what it is called."""

    label: str
    values: Values


@dataclass(frozen=True)
class Part:
    """One condition; `holds` is None while undecided."""

    name: str
    interval: stats.Interval
    holds: bool | None
    distance: float | None = None
    """Of the mean from the bound, positive on the side where the condition holds; None if no bound decides."""

    def __str__(self) -> str:
        word = {True: "holds", False: "fails", None: "open"}[self.holds]
        low, high = self.interval.low, self.interval.high
        span = "" if math.isnan(low) else f" [{number(low)}, {number(high)}]"
        return f"{self.name}: {number(self.interval.mean)}{span} {word}"


@dataclass(frozen=True)
class Finding:
    """What a claim found: its parts, and what else a reader should know."""

    parts: list[Part]
    note: str = ""
    table: Sequence[Row] | None = None
    """Rows of a claim of kind `report`: they are in `measured` in place of the parts."""
    seeds: int = field(default=0)

    @property
    def verdict(self) -> str:
        """The weakest of its parts; without conditions it is only reported."""
        states = [part.holds for part in self.parts]
        if not states:
            return REPORTED
        if False in states:
            return NOT_REPRODUCED
        return UNDECIDED if None in states else REPRODUCED

    @property
    def replications(self) -> int:
        """As given, or the smallest number behind any part."""
        return self.seeds or min((part.interval.n for part in self.parts), default=0)


def number(x: float) -> str:
    """Four significant digits, without an exponent if that is readable."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    return f"{x:.4g}" if abs(x) < 1e4 else f"{x:.0f}"


@dataclass(frozen=True)
class Bound:
    """A condition on what was measured, and one number."""

    text: str
    """How it reads, with the name of what was measured and the number."""
    holds: Callable[[stats.Interval, float], bool]
    side: int
    """1 if it holds above the number, -1 if below."""
    of: Callable[[list[float], float], stats.Interval] = stats.interval
    """The mean or the median, with an interval of this confidence."""

    def __call__(self, name: str, values: Iterable[float], bound: float) -> Part:
        """The condition on these values."""
        found, open_still = _estimate(self.of, values, bound)
        holds = None if open_still else self.holds(found, bound)
        return Part(self.text.format(name, bound), found, holds, self.side * (found.mean - bound))


def _not_below(found: stats.Interval, bound: float) -> bool:
    return not (math.isnan(found.mean) or found.below(bound))


BOUNDS = {
    ">=": Bound("{} >= {:g}", lambda found, bound: found.mean >= bound, 1),
    "<=": Bound("{} <= {:g}", lambda found, bound: found.mean <= bound, -1),
    ">": Bound("{} > {:g}", lambda found, bound: found.mean > bound, 1),
    "<": Bound("{} < {:g}", lambda found, bound: found.mean < bound, -1),
    "surely >": Bound("{} > {:g}", stats.Interval.above, 1),
    "surely <": Bound("{} < {:g}", stats.Interval.below, -1),
    "not surely <": Bound("{}, not below {:g}", _not_below, 1),
    "median >=": Bound("median {} >= {:g}", lambda found, bound: found.mean >= bound, 1, measures.median),
    "median <=": Bound("median {} <= {:g}", lambda found, bound: found.mean <= bound, -1, measures.median),
}
"""The mean (or the median) on a side of a number; surely: with its whole interval."""
at_least, at_most, more_than, less_than = (BOUNDS[op] for op in (">=", "<=", ">", "<"))
surely_above, surely_below = BOUNDS["surely >"], BOUNDS["surely <"]


def within(name: str, values: Iterable[float], band: tuple[float, float]) -> Part:
    """The mean lies in the band, its ends included."""
    low, high = band
    found, open_still = _estimate(stats.interval, values, low, high)
    inside = min(found.mean - low, high - found.mean)
    return Part(f"{name} in [{low:g}, {high:g}]", found, None if open_still else inside >= 0, inside)


def near(name: str, values: Iterable[float], tolerance: float) -> Part:
    """The mean differs from 1 by no more than this."""
    return within(name, values, (round(1 - tolerance, 12), round(1 + tolerance, 12)))


def positive(name: str, values: Iterable[float]) -> Part:
    """The whole interval is above zero."""
    return surely_above(name, values, 0.0)


def difference(a: Value, b: Value) -> Value:
    """`a - b`, replication by replication."""
    return Value(f"{a.label} - {b.label}", stats.differences(b.values, a.values))


def greater(a: Value, b: Value) -> Part:
    """`a > b`: the interval of the paired differences lies above zero."""
    return positive(*difference(a, b))


def not_below(a: Value, b: Value) -> Part:
    """`a >= b` within the interval: that of the paired differences does not lie below zero."""
    return BOUNDS["not surely <"](*difference(a, b), 0.0)


def most(name: str, parts: Sequence[Part], needed: int) -> Part:
    """At least `needed` of the parts hold; the number that do is shown."""
    held, failed = (sum(part.holds is state for part in parts) for state in (True, False))
    found = stats.Interval(held, math.nan, math.nan, min(part.interval.n for part in parts))
    holds = True if held >= needed else False if failed > len(parts) - needed else None
    return Part(f"{name} >= {needed} of {len(parts)}", found, holds)


def exact(name: str, value: float, *, holds: bool) -> Part:
    """A number that does not depend on any draw."""
    return Part(name, stats.Interval(value, value, value, 1), holds)


def never_below(name: str, values: Sequence[float], bound: float) -> Part:
    """Every single value is `bound` or more; the smallest is shown. Without a value nothing is decided."""
    if not values:
        return Part(f"smallest {name} >= {bound:g}", stats.Interval(math.nan, math.nan, math.nan, 0), None)
    smallest = min(values)
    found = stats.Interval(smallest, math.nan, math.nan, len(values))
    return Part(f"smallest {name} >= {bound:g}", found, smallest >= bound)


def _estimate(
    of: Callable[[list[float], float], stats.Interval], values: Iterable[float], *bounds: float
) -> tuple[stats.Interval, bool]:
    """The interval that is shown, and whether it is still open on which side of a bound the mean is."""
    listed = list(values)
    found, early = of(listed, stats.CONFIDENCE), of(listed, EARLY)
    decided = found.n >= FULL or math.isnan(found.mean)
    return found, not decided and (math.isnan(early.low) or any(map(early.contains, bounds)))
