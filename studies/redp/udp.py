"""UDP sources: fair under REDP, by phase under a leaky bucket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.redp.terms import UDP
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, at_least, positive, within

udp = Study("redp-udp", title="UDP: REDP against the leaky bucket", runs="redp-udp")
STUDIES = [udp]

POINTS = {"2.0-0.7": (2000.0, 700.0), "2.0-1.2": (2000.0, 1200.0), "1.2-0.7": (1200.0, 700.0)}
"""Sum of what the sources send, and rate of the marker, kbit/s."""
LEAST = {"2.0-0.7": 0.90, "2.0-1.2": 0.995, "1.2-0.7": 0.99}
SECONDS, BUCKET = 60.0, 60 * 8.0
"""Length of a run, and the bucket it starts with, kbit."""
MARKERS = {"redp": "REDP", "leaky": "leaky bucket"}


def left(runs: Samples) -> list[list[float]]:
    """Green that left the marker: a row a replication, a column a flow, kbit/s."""
    return [list(row) for row in zip(*(runs.values(f"{flow}.left") for flow in UDP), strict=True)]


def fairness(runs: Samples, **at: Any) -> list[float]:
    """Jain's index of green leaving the marker."""
    return [measures.jain(row) for row in left(runs.at(**at))]


@udp.claim("strict-fairer-than-leaky")
def the_phase_effect_is_reduced(runs: Samples, point: str) -> Finding:
    """Early and random decisions remove the phase effect that makes the leaky bucket unfair."""
    redp, leaky = (fairness(runs, point=point, sources="strict", marker=marker) for marker in MARKERS)
    return Finding([positive("J(REDP) - J(leaky)", stats.differences(leaky, redp))])


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
    rows = left(runs.at(point=point, sources="jittered", marker="redp"))
    _, rate = POINTS[point]
    parts = [
        _in_most("every flow within 6 % of the mean", [farthest(row) <= 6.0 for row in rows]),
        _in_most("J >= .998", [measures.jain(row) >= 0.998 for row in rows]),
        within("green less 60 packets, by R", [(sum(row) - BUCKET / SECONDS) / rate for row in rows], (0.98, 1.02)),
    ]
    return Finding(
        parts, f"Largest deviation {max(map(farthest, rows)):.2f} %, smallest J {min(map(measures.jain, rows)):.5f}"
    )


def _in_most(name: str, holds: Sequence[bool]) -> Part:
    """In at least 95 % of the runs; the share is shown. It is a count over all runs, so there is no interval."""
    share = sum(holds) / len(holds)
    nan = float("nan")
    return Part(f"{name}, share of the runs >= 0.95", stats.Interval(share, nan, nan, len(holds)), share >= 0.95)


@udp.claim("draws-and-leaky")
def every_draw(runs: Samples, point: str) -> Finding:
    """Both markers, both kinds of source: J, deviations, and what reaches CR2."""
    rows: list[dict[str, Any]] = []
    for sources in ("strict", "jittered"):
        for marker, name in MARKERS.items():
            found = runs.at(point=point, sources=sources, marker=marker)
            green = left(found)
            index = [measures.jain(row) for row in green]
            totals = {flow: found.mean(f"{flow}.total").mean for flow in UDP}
            rows.append(
                {
                    "sources": sources,
                    "marker": name,
                    "green of a flow, kb/s": stats.mean([stats.mean(row) for row in green]),
                    "mean J": stats.mean(index),
                    "least J": min(index),
                    "largest J": max(index),
                    "J by draw": [round(j, 4) for j in index],
                    **totals,
                }
            )
    fair = (POINTS[point][1] + BUCKET / SECONDS) / len(UDP)
    note = (
        f"Expected of a flow: {fair:g} kb/s green (R and 60 packets in 60 s, by four); 300 in all at CR2, by flow here"
    )
    return Finding([], note, rows, seeds=len(index))
