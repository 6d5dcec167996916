"""`perhop reproduce msvb-sio --readings`: TCP by RIO's half of Table 1, every other answer, a second base seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perhop import stats
from perhop.studies import Paper, Say, notes, trying
from perhop.studies import runs as simulation
from perhop.studies.criteria import Cell
from perhop.studies.msvb_sio import fairness, protection, stability
from perhop.studies.readings import Readings
from perhop.studies.runs import Budget, RunSet
from perhop.studies.samples import Sample, Samples
from perhop.studies.trying import Variant, World, table

VARIED = ("msvb-fig2", "sio-table1", "msvb-fig3", "msvb-fig4", "msvb-fig5", "msvb-fig6")
"""Run sets (by how their names begin) under other readings; the others are sweeps of their own."""


@dataclass(frozen=True)
class Row:
    """One TCP on RIO's half of Table 1."""

    readings: Mapping[str, str]
    cells: dict[tuple[str, str], float]
    """By the table's row and column."""
    squares: float
    """Sum of squared differences from the printed cells, points and packets."""


def run(paper: Paper, budget: Budget, to: tuple[Path, Say]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    out, say = to
    world, readings = World(paper, budget, say), paper.readings()
    out.mkdir(parents=True, exist_ok=True)
    rows = decide(world, readings)
    found = variants(world, readings)
    differing = trying.second_seed(world, world.sets, (budget.seed, budget.seed + 1))
    notes.write_tried(out / notes.TRIED, paper.name, trying.tried(found))
    studies = dict.fromkeys(study for study, _ in found[0].findings)
    parts = [_grid(rows, readings), trying.one_at_a_time(found, studies), trying.seeds_page(differing, budget)]
    page = out / "readings.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    say("")
    return page


def decide(world: World, readings: Readings) -> list[Row]:
    """Every TCP of the grid, the one that the rule takes first."""
    cells = [cell for cell in world.criteria.cells if cell.column.startswith("RIO")]
    sets = [s for s in world.sets if s.name == "sio-table1" and s.at["scheme"] == "rio"]
    rows = []
    for combination in readings.combinations("tcp"):
        world.say(", ".join(combination.values()))
        samples = simulation.by_set(world.simulate(sets, readings.settings(combination, "all")))
        rows.append(_row(combination, samples["sio-table1"], cells))
    return sorted(rows, key=lambda row: row.squares)


def _row(combination: Mapping[str, str], runs: Samples, cells: list[Cell]) -> Row:
    found = {(cell.row, cell.column): _measured(runs, cell) for cell in cells}
    squares = math.fsum((found[cell.row, cell.column] - cell.published) ** 2 for cell in cells)
    return Row(combination, found, squares)


def _measured(runs: Samples, cell: Cell) -> float:
    cir = next(c for c, name in protection.CIRS.items() if cell.column == f"RIO {name}")
    rates = 25 if cell.row == "Out-Dp" and cir < 1000 else 15
    return stats.mean(protection.found(runs, cell.row, scheme="rio", cir=cir, rates=rates))


def variants(world: World, readings: Readings) -> list[Variant]:
    """The frozen reading first, then every other value of every reading."""
    sets = [s for s in world.sets if s.name.startswith(VARIED)]
    frozen = [(s, world.simulate([s], {})) for s in sets]
    found = [_variant(world, "frozen", [sample for _, samples in frozen for sample in samples])]
    for reading in readings.by_id.values():
        for value in reading.others:
            samples = [
                sample for s, mine in frozen for sample in _under(world, (s, mine), (readings, reading.id, value))
            ]
            found.append(_variant(world, f"{reading.id}: {value}", samples))
    return found


def _under(world: World, was: tuple[RunSet, list[Sample]], of: tuple[Readings, str, str]) -> list[Sample]:
    """The runs of a set under a reading: those of the frozen one where it changes nothing."""
    (chosen, frozen), (readings, name, value) = was, of
    settings = readings.by_id[name].settings(value, chosen.name)
    plain, laid = (simulation.prepare([chosen], world.budget, s) for s in ({}, settings))
    same = [p["hash"] for p in plain[0].scenario.points] == [p["hash"] for p in laid[0].scenario.points]
    return frozen if same else world.simulate([chosen], settings)


def _variant(world: World, name: str, samples: list[Sample]) -> Variant:
    return Variant(name, world.findings(samples), _figures(simulation.by_set(samples)))


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    load, table1 = runs["msvb-fig2"], runs["sio-table1"]
    trips, beside = runs["msvb-fig3"], runs["msvb-fig4"]
    return {
        "fig2: MSVB drops, %": 100 * stats.mean(stability.drops(load, "msvb")),
        "fig2: MSVB Delta": stats.mean(stability.rise(load, "msvb")),
        "fig2: RED Delta": stats.mean(stability.rise(load, "red")),
        "fig2: SIO utilisation": stats.mean(load.values("utilisation", scheme="sio")),
        "table1: RIO In-Tp, CIR 1": stats.mean(protection.found(table1, "In-Tp", scheme="rio", cir=1000)),
        "table1: P1 In-Dp, CIR 1": stats.mean(protection.found(table1, "In-Dp", scheme="P1", cir=1000)),
        "table1: P1 queue, CIR 2": stats.mean(protection.found(table1, "Avg queue", scheme="P1", cir=2000)),
        "table1: P2 queue, CIR 2": stats.mean(protection.found(table1, "Avg queue", scheme="P2", cir=2000)),
        "fig3: jain MSVB": stats.mean(fairness.by_round_trip(trips, "msvb").jain),
        "fig3: jain RED": stats.mean(fairness.by_round_trip(trips, "red").jain),
        "fig4: jain MSVB": stats.mean(fairness.beside_udp(beside, "msvb").jain),
        "fig4: MSVB utilisation": stats.mean(beside.values("utilisation", scheme="msvb", rates=15)),
    }


def _grid(rows: list[Row], readings: Readings) -> str:
    cells = list(rows[0].cells)
    body = [[*row.readings.values(), *(f"{x:.2f}" for x in row.cells.values()), f"{row.squares:.1f}"] for row in rows]
    head = [*rows[0].readings, *(f"{row} {column.removeprefix('RIO ')}" for row, column in cells), "squares"]
    taken = ", ".join(f"{name} = {value}" for name, value in rows[0].readings.items())
    agrees = all(readings.by_id[name].frozen == value for name, value in rows[0].readings.items())
    says = "the scenario files say the same" if agrees else "**the scenario files say otherwise**"
    return "\n\n".join(["### TCP: RIO's half of Table 1", table(head, body), f"The rule takes {taken}; {says}."])
