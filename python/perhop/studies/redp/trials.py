"""`perhop reproduce redp --readings`: every other answer to what the paper leaves open, and a second base seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perhop.studies import Paper, Say, notes, trying
from perhop.studies import runs as simulation
from perhop.studies.readings import Readings
from perhop.studies.redp import choice, demotion, promotion
from perhop.studies.runs import Budget
from perhop.studies.samples import Sample, Samples
from perhop.studies.trying import Variant, World

VARIED = ("redp-fig5", "redp-fig8", "redp-fig8-start", "redp-fig9")
"""Run sets under other readings."""
JUDGED = (*VARIED, "redp-udp")
"""Run sets that decide anything."""


def run(paper: Paper, budget: Budget, to: tuple[Path, Say]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    out, say = to
    world = World(paper, budget, say)
    out.mkdir(parents=True, exist_ok=True)
    found = variants(world, paper.readings())
    judged = [s for s in world.sets if s.name in JUDGED]
    differing = trying.second_seed(world, judged, (budget.seed, budget.seed + 1))
    notes.write_tried(out / notes.TRIED, paper.name, trying.tried(found))
    studies = dict.fromkeys(study for study, _ in found[0].findings)
    page = out / "readings.md"
    parts = [trying.one_at_a_time(found, studies), trying.seeds_page(differing, budget)]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    say("")
    return page


def variants(world: World, readings: Readings) -> list[Variant]:
    """The frozen reading first, then every other value of every reading."""
    found = [_variant(world, "frozen", _samples(world, {}, readings))]
    for reading in readings.by_id.values():
        for value in reading.others:
            name = f"{reading.id}: {value}"
            world.say(name)
            found.append(_variant(world, name, _samples(world, {reading.id: value}, readings)))
    return found


def _samples(world: World, chosen: Mapping[str, str], readings: Readings) -> list[Sample]:
    samples = []
    for one in world.sets:
        if one.name in VARIED:
            samples += world.simulate([one], readings.settings(chosen, one.name))
    return samples


def _variant(world: World, name: str, samples: list[Sample]) -> Variant:
    return Variant(name, world.findings(samples), _figures(simulation.by_set(samples)))


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    plain, dropper = demotion.pair(runs["redp-fig5"])
    both = Samples([*runs["redp-fig5"].all, *runs["redp-fig9"].all])
    _, promoted = promotion.pair(runs["redp-fig8"])
    spreads = {drop: choice.at(both, drop).mean("std.green").mean for drop in choice.POINTS}
    return {
        "least green, plain": plain.mean("least.green").mean,
        "std green, plain": plain.mean("std.green").mean,
        "std green, dropper": dropper.mean("std.green").mean,
        "yellow, plain": plain.mean("yellow").mean,
        "yellow, dropper": dropper.mean("yellow").mean,
        "green at ER, plain": plain.mean("ER.in.green").mean,
        "green at ER, dropper": dropper.mean("ER.in.green").mean,
        "CoV, plain": plain.mean("cov").mean,
        "CoV, dropper": dropper.mean("cov").mean,
        "green at CR3 by flow": promoted.mean("green").mean / 4,
        "P_drop with the least std": min(spreads, key=lambda drop: spreads[drop]) / 100,
    }
