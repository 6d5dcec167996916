"""Fig. 9: how much to drop."""

from __future__ import annotations

import itertools

from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.redp.terms import DROPPER, PHASE, PLAIN, less_than_part
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, greater, not_below

fig9 = Study("redp-fig9", title="Fig. 9: choice of P_drop", runs=("redp-fig5", "redp-fig9"))
STUDIES = [fig9]

POINTS = (1, 2, 3, 4, 5)
"""P_drop, hundredths."""
BEYOND = POINTS[1:]


def at(runs: Samples, drop: int) -> Samples:
    """The runs with this P_drop; 0 and 2 are Fig. 5's."""
    return (
        runs.of("redp-fig5").at(drop=drop, buffer=PHASE)
        if drop in (PLAIN, DROPPER)
        else runs.of("redp-fig9").at(drop=drop)
    )


def _of(drop: int) -> str:
    return f".{drop:02}"


def _series(runs: Samples, quantity: str) -> list[list[float]]:
    """A row a replication, a column a point."""
    return [list(x) for x in zip(*(at(runs, drop).values(quantity) for drop in POINTS), strict=True)]


@fig9.claim("move-together")
def green_below_total_and_in_proportion(runs: Samples) -> Measured:
    """The STD of green is smaller than that of total, and grows with it."""
    parts: list[Value | Part] = []
    for drop in POINTS:
        green, total = (at(runs, drop).values(f"std.{kind}") for kind in ("green", "total"))
        parts.append(greater(Value(f"P_drop {_of(drop)}: std total", total), Value("std green", green)))
    rows = zip(_series(runs, "std.green"), _series(runs, "std.total"), strict=True)
    parts.append(Value("Pearson(std green, std total)", [measures.correlation(a, b) for a, b in rows]))
    return Measured(parts, f"Of the means over the seeds: {_correlation_of_means(runs):.3f}")


def _correlation_of_means(runs: Samples) -> float:
    means = ([at(runs, drop).mean(f"std.{kind}").mean for drop in POINTS] for kind in ("green", "total"))
    return measures.correlation(*means)


@fig9.claim("minimum-at-02")
def lower_than_others(runs: Samples) -> Finding:
    """Each STD is lower than others when P_drop is 0.02."""
    parts = []
    for kind in ("green", "total"):
        best = at(runs, DROPPER).values(f"std.{kind}")
        for drop in POINTS:
            if drop != DROPPER:
                other = at(runs, drop).values(f"std.{kind}")
                parts.append(greater(Value(f"std {kind}: {_of(drop)}", other), Value(_of(DROPPER), best)))
    return Finding(parts)


@fig9.claim("aggregates-at-02")
def a_higher_value(runs: Samples) -> Measured:
    """Each aggregate belongs to a higher value when P_drop is 0.02."""
    chosen, plain = at(runs, DROPPER), at(runs, PLAIN)
    parts: list[Value | Part] = []
    for kind in ("green", "total"):
        best = max((at(runs, drop) for drop in POINTS), key=lambda found: found.mean(kind).mean)
        ratios = [a / b for a, b in zip(chosen.values(kind), best.values(kind), strict=True)]
        parts.append(Value(f"{kind} at .02 by the best of the five", ratios))
    for kind in ("green", "total"):
        parts.append(less_than_part(f"std {kind}", chosen.values(f"std.{kind}"), plain.values(f"std.{kind}"), 0.6))
    return Measured(parts)


@fig9.claim("total-falls-beyond")
def more_dropping_costs_throughput(runs: Samples) -> Measured:
    """Beyond .02 the aggregate total does not rise, and at .05 it is at least 2 % lower."""
    totals = {drop: at(runs, drop).values("total") for drop in BEYOND}
    parts = [
        not_below(Value(f"total: {_of(a)}", totals[a]), Value(_of(b), totals[b])) for a, b in itertools.pairwise(BEYOND)
    ]
    falls = [100 * (1 - b / a) for a, b in zip(totals[DROPPER], totals[POINTS[-1]], strict=True)]
    return Measured([*parts, Value("fall of total from .02 to .05, %", falls)])
