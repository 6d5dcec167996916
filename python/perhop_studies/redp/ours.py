"""Not in the paper: where its bias is, whose it is, that colours add up, and a second boundary that demotes."""

from __future__ import annotations

from itertools import product
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.redp.method import COLOURS, CORES
from perhop_studies.redp.terms import LOOKS, TCP
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import Finding, Part, exact

regime = Study("redp-map", title="Where the bias is: buffer, time-out, jitter (not in the paper)", runs="beyond-map")
phase = Study(
    "redp-phase", title="Whose bias it is: the phase of the round trips (not in the paper)", runs="beyond-phase"
)
colours = Study("redp-colours", title="Colours add up (not in the paper)", runs="beyond-colours")
meter = Study("redp-meter", title="A second boundary that demotes (not in the paper)", runs="beyond-meter")
STUDIES = [regime, phase, colours, meter]

ACCESS = (10, 100)
"""Rate of the links that are not bottlenecks, Mbit/s: with 10 one flow wins, with 100 one starves."""
BUFFERS = (20, 25, 30, 35, 40, 50, 60, 100)
RULES = tuple((rto, jitter) for rto in (1000, 200) for jitter in (0, 1))
"""Least time-out and jitter, ms."""
LONGER = tuple(range(0, 6401, 400))
"""us by which all round trips are longer."""
JITTERS = {0: "no jitter", 1: "1 ms of jitter", 7: "6.7 ms of jitter"}
EFFECT = 45.0
"""The standard deviation of green that Fig. 5's criterion takes for the paper's bias, kbit/s."""
MARKERS = ("ER1", "ER2")
METERS = ("window", "rate", "ever", "static", "none")


@regime.claim("map")
def a_corner(runs: Samples) -> Finding:
    """Spread of green over all of it."""
    rows: list[dict[str, Any]] = []
    for access, buffer, (rto, jitter) in product(ACCESS, BUFFERS, RULES):
        each: dict[str, Any] = {"access, Mb/s": access, "B": buffer, "least time-out, ms": rto, "jitter, ms": jitter}
        for drop, look in LOOKS.items():
            found = runs.at(access=access, buffer=buffer, rto=rto, jitter=jitter, drop=drop)
            spread = found.mean("std.green")
            each |= {f"std green, {look.label}": spread.mean, f"± {look.label}": spread.half}
            each[f"least green, {look.label}"] = found.mean("least.green").mean
        rows.append(each)
    return Finding([], "kb/s; B = 20 is drop-tail, as no threshold of RIO is below it", rows, seeds=spread.n)


@phase.claim("phases")
def an_accident(runs: Samples) -> Finding:
    """Spread and least of green over the phase."""
    rows: list[dict[str, Any]] = []
    biased = dict.fromkeys((look.label for look in LOOKS.values()), 0)
    for longer, (drop, look) in product(LONGER, LOOKS.items()):
        found = runs.at(longer=longer, drop=drop)
        flows = {flow: found.mean(f"{flow}.green", jitter=0).mean for flow in TCP}
        spreads = {jitter: found.mean("std.green", jitter=jitter).mean for jitter in JITTERS}
        biased[look.label] += spreads[0] >= EFFECT
        named = {f"std green, {JITTERS[jitter]}": spread for jitter, spread in spreads.items()}
        rows.append({"longer, ms": longer / 1000, "marker": look.label, **flows, **named})
    told = ", ".join(f"{label} {n} of {len(LONGER)}" for label, n in biased.items())
    note = f"kb/s. Phases with a std of green of {EFFECT:g} or more: {told}"
    return Finding([], note, rows, seeds=len(found.values("std.green", jitter=0)))


def left_over(run: Sample, colour: str) -> float:
    """Packets of a colour that hosts marked so, or a marker made so, less what became of them."""
    found = run.values.get
    others = [c for c in COLOURS if c != colour]
    gained = sum(found(f"{router}.{other}>{colour}", 0.0) for router in MARKERS for other in others)
    lost = sum(found(f"{router}.{colour}>{other}", 0.0) for router in MARKERS for other in (*others, "dropped"))
    queues = sum(found(f"lost.{core}.{colour}", 0.0) for core in CORES)
    return found(f"leaf.{colour}", 0.0) + gained - lost - queues - run.values[f"sink.{colour}"]


@colours.claim("add-up")
def nothing_is_lost_on_the_way(runs: Samples) -> Finding:
    """Of each colour: marked by hosts and markers, less changed, dropped, lost in queues, received: nothing."""
    parts: list[Part] = []
    rows: list[dict[str, Any]] = []
    for (drop, look), colour in product(LOOKS.items(), COLOURS):
        found = runs.at(drop=drop)
        rest = max(abs(left_over(run, colour)) for run in found.all)
        parts.append(exact(f"{look.label}: {colour} left over", rest, holds=rest == 0))
        rows.append({"marker": look.label, "colour": colour, **_fates(found, colour), "left over": rest})
    return Finding(parts, "Packets, means over the runs", rows, seeds=len(found.all))


def _fates(runs: Samples, colour: str) -> dict[str, float]:
    names = {"hosts": f"leaf.{colour}", "CR1 lost": f"lost.CR1.{colour}", "CR2 lost": f"lost.CR2.{colour}"}
    names |= {f"{r} to {other}": f"{r}.{colour}>{other}" for r in MARKERS for other in (*COLOURS, "dropped")}
    names |= {"received": f"sink.{colour}"}
    return {name: stats.mean([run.values.get(q, 0.0) for run in runs.all]) for name, q in names.items()}


@meter.claim("second-boundary")
def what_the_second_dropper_does(runs: Samples) -> Finding:
    """At 0.5 Mbit/s ER2 demotes: its dropper rests while yellow comes in, by every reading that looks."""
    columns = {"drops at ER1": "ER1.dropped_early", "drops at ER2": "ER2.dropped_early"}
    rows: list[dict[str, Any]] = []
    for name in METERS:
        found = runs.at(meter=name)
        drops = found.values("ER2.dropped_early")
        demoted = found.mean("ER2.demoted").mean + found.mean("ER2.demoted_without_token").mean
        rows.append(
            {
                "meter": name,
                **{column: found.mean(quantity).mean for column, quantity in columns.items()},
                "most in a run": max(drops),
                "demoted at ER2": demoted,
                "green at CR3, kb/s": found.mean("green").mean,
                "std green": found.mean("std.green").mean,
            }
        )
    return Finding([], "After 10 s; `none` takes every boundary for the first", rows, seeds=len(drops))
