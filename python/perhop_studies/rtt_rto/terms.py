"""What the studies of the RTT-RTO paper have in common: conditioners, aggregates, ratios, tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from perhop_studies.samples import Samples

STANDARD, STANDARD_SW, BASIC, RTO, SW = "standard", "standard-sw", "basic", "rtt-rto", "rtt-sw"
LABELS = {STANDARD: "standard", STANDARD_SW: "standard with SW", BASIC: "basic RTT", RTO: "RTT-RTO", SW: "RTT-SW"}
COMPARED = (STANDARD, BASIC, RTO, SW)
RTTS = (4, 20, 50, 100, 150, 200)
"""Round trips of F2, ms; that of F1 is 20."""
FEW, MANY = 10, 200
"""Flows in an aggregate."""
PAIR, FLOWS = ("F1", "F2"), ("F1", "F2", "F3", "F4", "F5")


def ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """`a` by `b`, replication by replication."""
    return [x / y for x, y in zip(a, b, strict=True)]


def rows(runs: Samples, axes: Mapping[str, str], quantities: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each point of a run set: its place, by the titles of axes, and the means that it has."""
    grid = runs.grid()
    for values in product(*(grid[axis] for axis in axes)):
        found = runs.at(**dict(zip(axes, values, strict=True)))
        place = {title: LABELS.get(value, value) for title, value in zip(axes.values(), values, strict=True)}
        yield {**place, **{name: found.mean(name).mean for name in quantities if name in found.all[0].values}}
