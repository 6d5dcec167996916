"""`perhop reproduce pps --readings`: the grid, then every other answer one at a time, then a second base seed."""

from __future__ import annotations

from pathlib import Path

from perhop import stats
from perhop.studies import Paper, Say, notes, trying
from perhop.studies import runs as simulation
from perhop.studies.pps import deciding
from perhop.studies.pps.diffserv import PUBLISHED
from perhop.studies.pps.shares import FIG4, FIG6, FIG7
from perhop.studies.pps.terms import SCHEMES, SIZES, Rates, Shares
from perhop.studies.pps.worked import EX1
from perhop.studies.readings import Readings
from perhop.studies.runs import Budget, RunSet
from perhop.studies.samples import Sample, Samples
from perhop.studies.trying import Variant, World, table
from perhop.studies.verdict import number

NOT_VARIED = ("pps-bits", "pps-n")
"""Run sets (by how their names begin) that are sweeps of their own."""


def run(paper: Paper, budget: Budget, to: tuple[Path, Say]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    out, say = to
    world, readings = World(paper, budget, say), paper.readings()
    out.mkdir(parents=True, exist_ok=True)
    baselines = deciding.timers(world, readings)
    decision = deciding.decide(world, readings)
    found = variants(world, readings)
    differing = trying.second_seed(world, world.sets, (budget.seed, budget.seed + 1))
    notes.write_tried(out / notes.TRIED, paper.name, trying.tried(found))
    studies = dict.fromkeys(study for study, _ in found[0].findings)
    parts = [
        _timers(baselines, readings),
        _grid(decision, readings),
        trying.one_at_a_time(found, studies),
        trying.seeds_page(differing, budget),
    ]
    page = out / "readings.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    say("")
    return page


def variants(world: World, readings: Readings) -> list[Variant]:
    """The frozen reading first, then every other value of every reading."""
    sets = [s for s in world.sets if not s.name.startswith(NOT_VARIED)]
    found = [_variant(world, ("frozen", {}), sets)]
    for reading in readings.by_id.values():
        for value in reading.others:
            world.say(f"{reading.id}: {value}")
            found.append(_variant(world, (f"{reading.id}: {value}", reading.settings(value, "all")), sets))
    return found


def _variant(world: World, laid: tuple[str, dict[str, object]], sets: list[RunSet]) -> Variant:
    name, settings = laid
    samples = world.simulate(sets, settings)
    return Variant(name, world.findings(samples), _figures(samples))


def _figures(samples: list[Sample]) -> dict[str, float]:
    runs = simulation.by_set(samples)
    worked = runs["pps-ex1"].at(case="all")
    setups: dict[str, tuple[Samples, Rates]] = {
        "ex1": (worked, EX1["all"]),
        "fig4": (runs["pps-fig4"], FIG4),
        "fig6": (runs["pps-fig6"], FIG6),
        "fig7": (runs["pps-fig7"], FIG7),
    }
    found = {}
    for name, (of, rates) in setups.items():
        for size in SIZES:
            jain = [value for s in SCHEMES for value in Shares.of(of.at(scheme=s, size=size), rates).jain]
            found[f"{name} jain(y), {size} B"] = stats.mean(jain)
    for size in SIZES:
        values = [v for s in SCHEMES for v in runs["pps-fig6"].values("P3 - P4.utilisation", scheme=s, size=size)]
        found[f"fig6 utilisation, {size} B"] = stats.mean(values)
    expectation = [v for s in SCHEMES for v in runs["pps-fig7"].values("P3 - P4.expectation", scheme=s)]
    found["fig7 E / average tickets"] = stats.mean(expectation)
    return found


def _timers(found: list[deciding.Baseline], readings: Readings) -> str:
    rows = []
    for baseline in found:
        for size in SIZES:
            deviations = [f"{baseline.deviations[size, case]:.4f}" for case in deciding.SIGMA]
            cells = [f"{x:.3f}" for (of, _, _), x in baseline.cells.items() if of == size]
            rows.append([baseline.value, size, *deviations, *cells, f"{baseline.errors:.3f}"])
    printed = [rate for rates in PUBLISHED.values() for rate in rates.values()]
    rows.append(["printed", "", *deciding.SIGMA.values(), *printed, ""])
    head = ["b6", "packets, B", "Reno, a", "Reno, b", *(f"{p} {f}" for p, r in PUBLISHED.items() for f in r), "errors"]
    agrees = readings.by_id["b6"].frozen == found[0].value
    says = "the scenario files say the same" if agrees else "**the scenario files say otherwise**"
    text = f"The rule takes b6 = {found[0].value}; {says}."
    return "\n\n".join(["### TCP without PPS: Reno in Table III, DiffServ in Table IV", table(head, rows), text])


def _grid(decision: deciding.Decision, readings: Readings) -> str:
    rows = sorted(decision.rows, key=lambda row: (not row.allowed, row.errors))
    body = [
        [
            *row.readings.values(),
            f"{row.errors:.3f}",
            f"{row.worked:.3f}",
            f"{row.utilisation:.4f}",
            _margin(decision, row),
        ]
        for row in rows
    ]
    ids = list(rows[0].readings)
    head = [*ids, "sum of (y - 1)^2", "of which Fig. 1", "utilisation, Fig. 6", "above the smallest, a seed"]
    taken = ", ".join(f"{name} = {value}" for name, value in decision.chosen.readings.items())
    agrees = all(readings.by_id[name].frozen == value for name, value in decision.chosen.readings.items())
    says = "the scenario files say the same" if agrees else "**the scenario files say otherwise**"
    allowed = sum(row.allowed for row in rows)
    text = f"{allowed} of {len(rows)} combinations fill the link. The rule takes {taken}; {says}."
    return "\n\n".join(["### The grid on Fig. 1 and 6", table(head, body), text])


def _margin(decision: deciding.Decision, row: deciding.Row) -> str:
    found = decision.margin(row)
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"
