"""What the studies of REDP have in common: flows, colours, plain REDP against the dropper."""

from __future__ import annotations

from collections.abc import Sequence

from perhop import stats
from perhop_studies.drawing import Look
from perhop_studies.redp.method import KINDS
from perhop_studies.samples import Samples
from perhop_studies.verdict import Part, positive

TCP = tuple(f"tcp{i}" for i in range(1, 5))
UDP = tuple(f"udp{i}" for i in range(1, 5))
LINK, AGREED = 1200.0, 700.0
"""Bottleneck and negotiated rate at the first boundary, kbit/s."""
IDEAL = {"green": 175.0, "yellow": 125.0, "total": 300.0}
"""A flow's fair part, kbit/s."""

PLAIN, DROPPER = 0, 2
"""P_drop in hundredths: REDP, and REDP with the combined dropper as the paper sets it."""
PHASE, REGULAR = 30, 100
"""Buffer, packets."""

LOOKS = {PLAIN: Look("REDP", "#c2410c", "s"), DROPPER: Look("REDP with dropper", "#0072b2", "o")}
COLOURS = {"green": "#12633b", "yellow": "#c08a00", "red": "#b42318", "total": "#46525e"}


def both(runs: Samples, **at: object) -> tuple[Samples, Samples]:
    """Plain REDP, and with the dropper."""
    return runs.at(drop=PLAIN, **at), runs.at(drop=DROPPER, **at)


def less_than_part(name: str, a: Sequence[float], b: Sequence[float], part: float) -> Part:
    """`a < part x b`: the interval of the paired differences lies below zero."""
    return positive(f"{part:g} x plain - dropper, {name}", [part * y - x for x, y in zip(a, b, strict=True)])


def row(runs: Samples) -> dict[str, float]:
    """Means for a table: spreads, the least green, aggregates."""
    spreads = {f"std {kind}": runs.mean(f"std.{kind}").mean for kind in ("green", "yellow", "total")}
    sums = {kind: runs.mean(kind).mean for kind in KINDS}
    return {"least green": runs.mean("least.green").mean, **spreads, **sums}


def by_flow(runs: Samples, kind: str, flows: Sequence[str] = TCP) -> list[stats.Interval]:
    """Each flow's rate."""
    return [runs.mean(f"{flow}.{kind}") for flow in flows]
