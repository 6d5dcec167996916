"""The studies of the paper, and claims on them that need Python. The others are in `claims.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.redp.terms import DROPPER, PHASE, PLAIN, TCP, UDP
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, at_least, exact, greater, positive, within

fig5 = Study("redp-fig5", title="Fig. 5: fairness in demotion", runs="redp-fig5")
fig6 = Study("redp-fig6", title="Fig. 6: the queue at CR1", runs="redp-fig5")
fig8 = Study("redp-fig8", title="Fig. 8: fairness in promotion", runs=("redp-fig8", "redp-fig8-start"))
fig9 = Study("redp-fig9", title="Fig. 9: choice of P_drop", runs=("redp-fig5", "redp-fig9"))
udp = Study("redp-udp", title="UDP: REDP against the leaky bucket", runs="redp-udp")
flow = Study("redp-udp-flow", title="UDP: REDP against marking by flow", runs=("redp-udp", "redp-udp-flow"))
rates = Study("redp-udp-rates", title="UDP sources of unequal rates", runs="redp-udp-rates")
two = Study("redp-udp-two", title="UDP in promotion", runs="redp-udp-two")
colours = Study("redp-udp-colours", title="Promotion with three colours and with two", runs="redp-udp-colours")
STUDIES = [fig5, fig6, fig8, fig9, udp, flow, rates, two, colours]

POINTS = (1, 2, 3, 4, 5)
"""P_drop of Fig. 9, hundredths."""
RATES = {"2.0-0.7": (2000.0, 700.0), "2.0-1.2": (2000.0, 1200.0), "1.2-0.7": (1200.0, 700.0)}
"""Sum of what UDP sources send, and rate of the marker, kbit/s."""
LEAST = {"2.0-0.7": 0.90, "2.0-1.2": 0.995, "1.2-0.7": 0.99}
BUCKET = 60 * 8.0
"""What a bucket starts with, kbit."""
MARKERS = {"redp": "REDP", "leaky": "leaky bucket"}


@fig5.claim("starving-flow-loses-more")
def packets_of_certain_flows(runs: Samples) -> Measured:
    """Under plain REDP CR1 drops packets of the flow that gets least more often than those of the others."""
    found = runs.at(drop=PLAIN, buffer=PHASE)
    totals, lost = (zip(*(found.values(f"{flow}.{kind}") for flow in TCP), strict=True) for kind in ("total", "lost"))
    gaps = [_of_the_least(total, parts) for total, parts in zip(totals, lost, strict=True)]
    return Measured([Value("part lost: flow with least total - mean of the others, %", gaps)])


def _of_the_least(totals: Sequence[float], parts: Sequence[float]) -> float:
    """By how much more the flow with the least total loses than the others, %."""
    i = totals.index(min(totals))
    return 100 * (parts[i] - stats.mean([*parts[:i], *parts[i + 1 :]]))


@fig8.claim("dropper-rests-at-er2")
def no_dropping_in_concatenation(runs: Samples) -> Finding:
    """Yellow comes in at ER2, so its dropper does not act; counted from the first packet on, which is more."""
    drops = runs.of("redp-fig8-start").values("ER2.dropped_early")
    level = "ER2's bucket is never below T_L here, so that no reading of the meter differs; redp-meter has one that is"
    most = exact("most drops by ER2's dropper in a run", max(drops), holds=max(drops) == 0)
    return Finding([most], level, seeds=len(drops))


def at(runs: Samples, drop: int) -> Samples:
    """The runs with this P_drop; 0 and 2 are Fig. 5's."""
    if drop in (PLAIN, DROPPER):
        return runs.of("redp-fig5").at(drop=drop, buffer=PHASE)
    return runs.of("redp-fig9").at(drop=drop)


@fig9.claim("move-together")
def green_below_total_and_in_proportion(runs: Samples) -> Measured:
    """The STD of green is smaller than that of total, and grows with it."""
    greens, totals = ([at(runs, drop).values(f"std.{kind}") for drop in POINTS] for kind in ("green", "total"))
    parts: list[Value | Part] = [
        greater(Value(f"P_drop .{drop:02}: std total", total), Value("std green", green))
        for drop, green, total in zip(POINTS, greens, totals, strict=True)
    ]
    rows = zip(zip(*greens, strict=True), zip(*totals, strict=True), strict=True)
    parts.append(Value("Pearson(std green, std total)", [measures.correlation(a, b) for a, b in rows]))
    of_means = measures.correlation([*map(stats.mean, greens)], [*map(stats.mean, totals)])
    return Measured(parts, f"Of the means over the seeds: {of_means:.3f}")


@fig9.claim("aggregates-at-02")
def a_higher_value(runs: Samples) -> Measured:
    """Each aggregate belongs to a higher value when P_drop is 0.02."""
    chosen, plain = at(runs, DROPPER), at(runs, PLAIN)
    parts: list[Value | Part] = []
    for kind in ("green", "total"):
        best = max((at(runs, drop) for drop in POINTS), key=lambda found: found.mean(kind).mean)
        ratios = [a / b for a, b in zip(chosen.values(kind), best.values(kind), strict=True)]
        parts.append(Value(f"{kind} at .02 by the best of the five", ratios))
    for kind in ("std.green", "std.total"):
        left = [0.6 * b - a for a, b in zip(chosen.values(kind), plain.values(kind), strict=True)]
        parts.append(positive(f"0.6 x plain - dropper, {kind.replace('.', ' ')}", left))
    return Measured(parts)


def left(runs: Samples) -> list[list[float]]:
    """Green that left the marker: a row a replication, a column a flow, kbit/s."""
    return [list(row) for row in zip(*(runs.values(f"{flow}.left") for flow in UDP), strict=True)]


def fairness(runs: Samples, **where: Any) -> list[float]:
    """Jain's index of green leaving the marker."""
    return [measures.jain(row) for row in left(runs.at(**where))]


@udp.claim("strict-amount")
def almost_as_per_flow(runs: Samples, point: str) -> Finding:
    """UDP fairness is almost as good as that of per-flow marking."""
    return Finding([at_least("J(REDP)", fairness(runs, point=point, sources="strict", marker="redp"), LEAST[point])])


def farthest(row: Sequence[float]) -> float:
    """The largest deviation of a flow from the flows' mean, %."""
    centre = stats.mean(row)
    return max(100 * abs(x / centre - 1) for x in row)


@udp.claim("jittered")
def fair_and_at_the_rate(runs: Samples, point: str) -> Finding:
    """Sources whose gaps vary: each has the same green, and all together the rate."""
    found = runs.at(point=point, sources="jittered", marker="redp")
    rows, seconds = left(found), found.values("seconds")
    rates = [(sum(row) - BUCKET / t) / RATES[point][1] for row, t in zip(rows, seconds, strict=True)]
    parts = [
        _in_most("every flow within 6 % of the mean", [farthest(row) <= 6.0 for row in rows]),
        _in_most("J >= .998", [measures.jain(row) >= 0.998 for row in rows]),
        within("green less 60 packets, by R", rates, (0.98, 1.02)),
    ]
    worst, least = max(map(farthest, rows)), min(map(measures.jain, rows))
    return Finding(parts, f"Largest deviation {worst:.2f} %, smallest J {least:.5f}")


def _in_most(name: str, holds: Sequence[bool]) -> Part:
    """In at least 95 % of the runs; the share is shown. It is a count over all runs, so there is no interval."""
    share, nan = sum(holds) / len(holds), float("nan")
    return Part(f"{name}, share of the runs >= 0.95", stats.Interval(share, nan, nan, len(holds)), share >= 0.95)


@udp.claim("draws-and-leaky")
def every_draw(runs: Samples, point: str) -> Finding:
    """Both markers, both kinds of source: J, deviations, and what reaches CR2."""
    rows = [
        {"sources": sources, "marker": name, **_drawn(runs.at(point=point, sources=sources, marker=marker))}
        for sources in ("strict", "jittered")
        for marker, name in MARKERS.items()
    ]
    fair = RATES[point][1] / len(UDP)
    note = f"Fair is {fair:g} kb/s green for a flow, and what the bucket starts with; 300 in all at CR2, by flow here"
    return Finding([], note, rows, seeds=len(rows[0]["J by draw"]))


def _drawn(runs: Samples) -> dict[str, Any]:
    index = [measures.jain(row) for row in left(runs)]
    return {
        "green of a flow, kb/s": stats.mean([stats.mean(row) for row in left(runs)]),
        "mean J": stats.mean(index),
        "least J": min(index),
        "largest J": max(index),
        "J by draw": [round(j, 4) for j in index],
        **{flow: runs.mean(f"{flow}.total").mean for flow in UDP},
    }
