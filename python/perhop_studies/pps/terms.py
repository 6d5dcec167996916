"""The words the claims are written in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from perhop import stats
from perhop_studies import measures
from perhop_studies.drawing import Look
from perhop_studies.samples import Samples
from perhop_studies.verdict import Value, number

SCHEMES, SIZES = ("sender", "receiver"), (1000, 500)
SENDER, RECEIVER = Look("sender-based", "#0072b2", "o"), Look("receiver-based", "#c2410c", "D", "--")
LOOKS = {"sender": SENDER, "receiver": RECEIVER}

Rates = Mapping[str, float]
"""Mbit/s by flow."""


def mbit(values: Sequence[float]) -> list[float]:
    """From bit/s."""
    return [value / 1e6 for value in values]


@dataclass(frozen=True)
class Shares:
    """What some flows got (x) and what they expect (e), Mbit/s: a row per replication, a column per flow."""

    expected: Rates
    rows: list[list[float]]

    @classmethod
    def of(cls, runs: Samples, expected: Rates, quantity: str = "throughput") -> Shares:
        """The flows that `expected` names; `quantity` is `throughput` or `late`."""
        columns = [mbit(runs.values(f"{flow}.{quantity}")) for flow in expected]
        return cls(expected, [list(row) for row in zip(*columns, strict=True)])

    def x(self, flow: str) -> list[float]:
        """One flow's rate."""
        place = list(self.expected).index(flow)
        return [row[place] for row in self.rows]

    def y(self, flow: str) -> list[float]:
        """x/e of one flow."""
        return [x / self.expected[flow] for x in self.x(flow)]

    @cached_property
    def ys(self) -> list[list[float]]:
        """x/e, a row a replication."""
        return [[x / e for x, e in zip(row, self.expected.values(), strict=True)] for row in self.rows]

    @property
    def jain(self) -> list[float]:
        """Jain's index over y: 1 is in proportion."""
        return [measures.jain(row) for row in self.ys]

    @property
    def error(self) -> list[float]:
        """Mean of |y - 1| over the flows."""
        return [stats.mean(abs(y - 1) for y in row) for row in self.ys]

    @property
    def deviation(self) -> list[float]:
        """Population standard deviation of x over the flows."""
        return [math.sqrt(stats.mean((x - stats.mean(row)) ** 2 for x in row)) for row in self.rows]

    @property
    def spread(self) -> list[float]:
        """Largest x by smallest."""
        return [max(row) / min(row) if min(row) > 0 else math.inf for row in self.rows]

    def total(self, *flows: str) -> list[float]:
        """Sum of the rates of these flows; of all if none is named."""
        return [math.fsum(row) for row in zip(*map(self.x, flows or self.expected), strict=True)]

    def ratio(self, a: str, b: str) -> list[float]:
        """x of one flow by that of another; infinite where that is zero."""
        return [p / q if q else math.inf for p, q in zip(self.x(a), self.x(b), strict=True)]

    def by_row(self, of: Callable[[list[float]], float]) -> list[float]:
        """A function of the rates of each replication."""
        return [of(row) for row in self.rows]

    def each(self, name: str = "x/e") -> list[Value]:
        """What every flow has by what it expects."""
        return [Value(f"{name} {flow}", self.y(flow)) for flow in self.expected]

    def intervals(self) -> list[stats.Interval]:
        """x of every flow with its interval."""
        return [stats.interval(self.x(flow)) for flow in self.expected]


def ratio(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """`a / b` within each replication; infinite where b is zero."""
    return [x / y if y else math.inf for x, y in zip(a, b, strict=True)]


def settled(runs: Samples, expected: Rates, **at: Any) -> str:
    """What the same flows got over 20-200 s, as a sentence."""
    late = Shares.of(runs.at(**at) if at else runs, expected, "late")
    lowest, highest = (end(stats.mean(late.y(flow)) for flow in expected) for end in (min, max))
    of_jain = number(stats.mean(late.jain))
    return f"Over 20-200 s: jain(y) {of_jain}, y from {number(lowest)} to {number(highest)}."
