"""Not in the paper: colours add up on the way through two domains; and a second boundary that demotes as well."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.redp.method import COLOURS, CORES
from perhop_studies.redp.terms import LOOKS
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import Finding, Part, exact

colours = Study("redp-colours", title="Colours add up (not in the paper)", runs="redp-colours")
meter = Study("redp-meter", title="A second boundary that demotes (not in the paper)", runs="redp-meter")
STUDIES = [colours, meter]

MARKERS = ("ER1", "ER2")
METERS = ("window", "rate", "ever", "static", "none")


def left_over(run: Sample, colour: str) -> float:
    """Packets of a colour that hosts marked so, or a marker made so, less what became of them."""
    found = run.values.get
    gained = lost = 0.0
    for router in MARKERS:
        others = [c for c in COLOURS if c != colour]
        gained += sum(found(f"{router}.{other}>{colour}", 0.0) for other in others)
        lost += sum(found(f"{router}.{colour}>{other}", 0.0) for other in (*others, "dropped"))
    queues = sum(found(f"lost.{core}.{colour}", 0.0) for core in CORES)
    return found(f"leaf.{colour}", 0.0) + gained - lost - queues - run.values[f"sink.{colour}"]


@colours.claim("add-up")
def nothing_is_lost_on_the_way(runs: Samples) -> Finding:
    """Of each colour: marked by hosts and markers, less changed, dropped, lost in queues, received: nothing."""
    parts: list[Part] = []
    rows: list[dict[str, Any]] = []
    for drop, look in LOOKS.items():
        found = runs.at(drop=drop)
        for colour in COLOURS:
            rest = max(abs(left_over(run, colour)) for run in found.all)
            parts.append(exact(f"{look.label}: {colour} left over", rest, holds=rest == 0))
            rows.append({"marker": look.label, "colour": colour, **_fates(found, colour), "left over": rest})
    return Finding(parts, "Packets, means over the runs", rows, seeds=len(found.all))


def _fates(runs: Samples, colour: str) -> dict[str, float]:
    names = {"hosts": f"leaf.{colour}", "CR1 lost": f"lost.CR1.{colour}", "CR2 lost": f"lost.CR2.{colour}"}
    names |= {f"{r} {colour} to {other}": f"{r}.{colour}>{other}" for r in MARKERS for other in (*COLOURS, "dropped")}
    names |= {"received": f"sink.{colour}"}
    means = {name: stats.mean([run.values.get(q, 0.0) for run in runs.all]) for name, q in names.items()}
    return {name.replace(f" {colour} to ", " to "): value for name, value in means.items()}


@meter.claim("second-boundary")
def what_the_second_dropper_does(runs: Samples) -> Finding:
    """At 0.5 Mbit/s ER2 demotes: its dropper rests while yellow comes in, by every reading that looks."""
    rows: list[dict[str, Any]] = []
    for name in METERS:
        found = runs.at(meter=name)
        drops = found.values("ER2.dropped_early")
        rows.append(
            {
                "meter": name,
                "drops at ER1": found.mean("ER1.dropped_early").mean,
                "drops at ER2": stats.mean(drops),
                "most in a run": max(drops),
                "demoted at ER2": found.mean("ER2.demoted").mean + found.mean("ER2.demoted_without_token").mean,
                "green at CR3, kb/s": found.mean("green").mean,
                "std green": found.mean("std.green").mean,
            }
        )
    return Finding([], "After 10 s; `none` takes every boundary for the first", rows, seeds=len(drops))
