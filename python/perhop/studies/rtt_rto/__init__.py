"""The RTT-RTO aware conditioner: the studies in the order of the paper's section VI.

A group of studies is a module with `STUDIES`; its runs are sets of `studies/rtt-rto/runs.toml`, and what is read off
them stands in `method`.
"""

from __future__ import annotations

from pathlib import Path

from perhop.studies import Paper, Say
from perhop.studies.criteria import Cell
from perhop.studies.drawing import Picture
from perhop.studies.rtt_rto import domains, kin, tables, two
from perhop.studies.rtt_rto.method import METHOD
from perhop.studies.runs import Budget
from perhop.studies.samples import Samples

GROUPS = (two, kin, domains, tables)


def pictures(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The figures of one study."""
    from perhop.studies.rtt_rto import figures

    return figures.draw(study, runs, cells)


def try_readings(budget: Budget, out: Path, say: Say) -> Path:
    """Runs the open readings and writes what each gave; see `trials`."""
    from perhop.studies.rtt_rto import trials

    return trials.run(PAPER, budget, (out, say))


PAPER = Paper(
    name="rtt-rto",
    title="A Round Trip Time and Timeout Aware Traffic Conditioner for Differentiated Services Networks",
    source="A. Habib, B. Bhargava, S. Fahmy, Purdue University, CSD TR 01-021, November 2001",
    studies=[study for group in GROUPS for study in group.STUDIES],
    method=METHOD,
    measured="Throughput is what applications got after 20 s, packets of 1024 bytes counted whole, as the paper's ns-2 "
    "did: with headers taken off, 10 Mb/s would bring 9.61, and the paper prints 2.3 + 7.52.",
    cell=tables.cell,
    pictures=pictures,
    try_readings=try_readings,
)
