"""What the studies of the RTT-RTO paper have in common: conditioners, aggregates, ratios."""

from __future__ import annotations

from collections.abc import Sequence

from perhop import stats
from perhop_studies.drawing import Look
from perhop_studies.samples import Samples
from perhop_studies.verdict import Part, Value, positive

STANDARD, STANDARD_SW, BASIC, RTO, SW = "standard", "standard-sw", "basic", "rtt-rto", "rtt-sw"
LABELS = {STANDARD: "standard", STANDARD_SW: "standard with SW", BASIC: "basic RTT", RTO: "RTT-RTO", SW: "RTT-SW"}
COLOURS = {STANDARD: "#667584", STANDARD_SW: "#12633b", BASIC: "#c2410c", RTO: "#0072b2", SW: "#a05195"}
RTTS = (4, 20, 50, 100, 150, 200)
"""Round trips of F2, ms; that of F1 is 20."""
FEW, MANY = 10, 200
"""Flows in an aggregate."""
PAIR = ("F1", "F2")


def look(marker: str, point: str = "o", line: str = "-") -> Look:
    """How a conditioner is drawn."""
    return Look(LABELS[marker], COLOURS[marker], point, line)


def ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """`a` by `b`, replication by replication."""
    return [x / y for x, y in zip(a, b, strict=True)]


def ratio(runs: Samples, above: str, below: str) -> list[float]:
    """One quantity by another."""
    return ratios(runs.values(above), runs.values(below))


def uneven(runs: Samples, flows: Sequence[str] = PAIR) -> list[float]:
    """The largest of the aggregates by the smallest, replication by replication."""
    rows = zip(*(runs.values(flow) for flow in flows), strict=True)
    return [max(row) / min(row) for row in rows]


def at_least_times(a: Value, b: Value, times: float) -> Part:
    """`a >= times x b` of two conditioners: the interval of the paired differences lies above zero."""
    rest = [x - times * y for x, y in zip(a.values, b.values, strict=True)]
    return positive(f"{a.label} - {times:g} x {b.label}", rest)


def means(runs: Samples, quantities: Sequence[str]) -> dict[str, float]:
    """Means for a row of a table."""
    return {name: runs.mean(name).mean for name in quantities}


def averages(runs: Samples, flows: Sequence[str]) -> list[float]:
    """The mean over some aggregates, replication by replication."""
    return [stats.mean(row) for row in zip(*(runs.values(flow) for flow in flows), strict=True)]
