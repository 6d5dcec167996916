"""`perhop reproduce rtt-rto --readings`: every other answer one at a time, and a second base seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perhop import stats
from perhop.studies import Paper, Say, notes, trying
from perhop.studies import runs as simulation
from perhop.studies.readings import Readings
from perhop.studies.rtt_rto import domains, tables
from perhop.studies.rtt_rto.terms import BASIC, MANY, PAIR, RTO, STANDARD, SW
from perhop.studies.runs import Budget, RunSet
from perhop.studies.samples import Sample, Samples
from perhop.studies.trying import Variant, World

NOT_VARIED = ("rtt-fig4-rto", "rtt-fig4-2dp-out", "rtt-table2-w2")
"""Run sets of reports alone, or readings themselves."""


def run(paper: Paper, budget: Budget, to: tuple[Path, Say]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    out, say = to
    world, readings = World(paper, budget, say), paper.readings()
    out.mkdir(parents=True, exist_ok=True)
    found = variants(world, readings)
    differing = trying.second_seed(world, world.sets, (budget.seed, budget.seed + 1))
    notes.write_tried(out / notes.TRIED, paper.name, trying.tried(found))
    studies = dict.fromkeys(study for study, _ in found[0].findings)
    parts = [trying.one_at_a_time(found, studies), trying.seeds_page(differing, budget)]
    page = out / "readings.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    say("")
    return page


def variants(world: World, readings: Readings) -> list[Variant]:
    """The frozen reading first, then every other value of every reading."""
    frozen = [(s, world.simulate([s], {})) for s in world.sets]
    found = [_variant(world, "frozen", [sample for _, samples in frozen for sample in samples])]
    for reading in readings.by_id.values():
        for value in reading.others:
            world.say(f"{reading.id}: {value}")
            samples = [x for s, mine in frozen for x in _under(world, (s, mine), (readings, reading.id, value))]
            found.append(_variant(world, f"{reading.id}: {value}", samples))
    return found


def _under(world: World, was: tuple[RunSet, list[Sample]], of: tuple[Readings, str, str]) -> list[Sample]:
    """The runs of a set under a reading: those of the frozen one where it changes nothing."""
    (chosen, frozen), (readings, name, value) = was, of
    settings = readings.by_id[name].settings(value, chosen.name)
    if chosen.name in NOT_VARIED or not settings:
        return frozen
    plain, laid = (simulation.prepare([chosen], world.budget, s) for s in ({}, settings))
    same = [p["hash"] for p in plain[0].scenario.points] == [p["hash"] for p in laid[0].scenario.points]
    return frozen if same else world.simulate([chosen], settings)


def _variant(world: World, name: str, samples: list[Sample]) -> Variant:
    return Variant(name, world.findings(samples), _figures(simulation.by_set(samples)))


def _mean(runs: Samples, quantity: str, **at: object) -> float:
    return runs.mean(quantity, **at).mean


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    two = runs["rtt-fig4"].at(n=MANY, rtt=100)
    found = {f"fig4: {marker} {flow}": _mean(two, flow, marker=marker) for marker in (BASIC, RTO, SW) for flow in PAIR}
    found["fig4: standard total"] = _mean(two, "total", marker=STANDARD)
    found |= {f"fig5: cwnd {marker}": _mean(runs["rtt-fig5"], "F1.cwnd", marker=marker) for marker in (BASIC, SW)}
    found["fig6: F3/mean(F1, F2, F4)"] = stats.mean(
        domains.by_short(runs["rtt-fig6"].at(marker=RTO, n=MANY), ("F1", "F2", "F4"))
    )
    found["67x"] = stats.mean(domains.by_short(runs["rtt-67x"].at(marker=STANDARD)))
    for marker in tables.MARKERS:
        found[f"table1: {marker}"] = _mean(runs["rtt-table1"], tables.OVERALL, marker=marker)
    for marker in tables.MARKERS:
        found[f"table2: {marker}"] = _mean(tables.web(runs["rtt-table2"]), tables.ALL, marker=marker)
    return found
