"""Table 1: what RIO and SIO let through of IN and of OUT, by the size of the profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.msvb_sio.terms import LINK, percent
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding

table1 = Study("sio-table1", title="Table 1: protecting in-profile packets", runs="sio-table1")
STUDIES = [table1]

CIRS = {250: ".25", 500: ".5", 1000: "1.0", 2000: "2.0"}
"""Of each class, kbit/s, as the table heads its columns."""
SETS = ("P1", "P2")
RATES = (15, 25, 30)
"""Sum of what the UDP sources send, Mbit/s: i - 5, 2(i - 5) - 1 and 2(i - 5) of class i."""

ROWS: dict[str, Callable[[Samples], list[float]]] = {
    "In-Tp": lambda runs: [100 * rate / LINK for rate in runs.values("in.rate")],
    "In-Dp": lambda runs: percent(runs.values("in.drops")),
    "Out-Dp": lambda runs: percent(runs.values("out.drops")),
    "Avg queue": lambda runs: runs.values("queue"),
}
"""The table's rows: % of the link, %, %, packets."""


def found(runs: Samples, row: str, **at: Any) -> list[float]:
    """A row of the table for one scheme (`rio`, `P1` or `P2`) and CIR; UDP sends 15 Mbit/s unless stated."""
    return ROWS[row](runs.at(**{"rates": 15, **at}))


@table1.claim("out-dp-other-rates")
def every_cell_under_every_rate(runs: Samples) -> Finding:
    """All rows of the table for the three readings of the sources' rates."""
    rows: list[dict[str, Any]] = []
    for scheme in ("rio", *SETS):
        for rates in RATES:
            for cir, name in CIRS.items():
                means = {row: stats.mean(found(runs, row, scheme=scheme, cir=cir, rates=rates)) for row in ROWS}
                rows.append({"scheme": scheme, "UDP, Mbit/s": rates, "CIR": name, **means})
    return Finding([], "", rows, seeds=len(found(runs, "Out-Dp", scheme="rio", cir=250)))


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A printed cell; SIO's under P1."""
    scheme, cir = printed.column.split()
    of = {"RIO": "rio", "SIO": SETS[0]}[scheme]
    return found(runs, printed.row, scheme=of, cir=next(c for c, name in CIRS.items() if name == cir))


CELLS = {"sio-table1": cell}
