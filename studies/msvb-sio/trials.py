"""What is this paper's own in trying readings: TCP by RIO's half of Table 1 comes first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from perhop import stats
from perhop_studies import runs as simulation
from perhop_studies.criteria import Cell
from perhop_studies.msvb_sio import fairness, protection, stability
from perhop_studies.samples import Samples
from perhop_studies.trying import Trial, World, agreement, table

VARIED = ("msvb-fig2", "sio-table1", "msvb-fig3", "msvb-fig4", "msvb-fig5", "msvb-fig6")
"""Run sets (by how their names begin) under other readings; the others are separate sweeps."""


@dataclass(frozen=True)
class Row:
    """One TCP on RIO's half of Table 1."""

    readings: Mapping[str, str]
    cells: dict[tuple[str, str], float]
    """By the table's row and column."""
    squares: float
    """Sum of squared differences from the printed cells, points and packets."""


def decide(world: World) -> list[Row]:
    """Every TCP of the grid, the one that the rule takes first."""
    cells = [cell for cell in world.criteria.cells if cell.column.startswith("RIO")]
    sets = [s for s in world.sets if s.name == "sio-table1" and s.at["scheme"] == "rio"]
    rows = []
    for combination in world.readings.combinations("tcp"):
        world.say(", ".join(combination.values()))
        samples = simulation.by_set(world.simulate(sets, world.readings.settings(combination, "all")))
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


def _sections(world: World, _: object, variants: str) -> list[str]:
    rows = decide(world)
    cells = list(rows[0].cells)
    body = [[*row.readings.values(), *(f"{x:.2f}" for x in row.cells.values()), f"{row.squares:.1f}"] for row in rows]
    head = [*rows[0].readings, *(f"{row} {column.removeprefix('RIO ')}" for row, column in cells), "squares"]
    rule = agreement(world.readings, rows[0].readings)
    return ["### TCP: RIO's half of Table 1", table(head, body), rule, variants]


TRIAL = Trial(_figures, sets=lambda world: [s for s in world.sets if s.name.startswith(VARIED)], sections=_sections)
