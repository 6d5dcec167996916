"""MSVB and SIO: the studies in the order of the paper's section 4, then those it does not have.

A group of studies is a module with `STUDIES`, `PICTURES` (a function of runs and printed cells for each study that is
drawn) and, where the paper prints a table, `CELLS` (what a printed cell is compared with). Its name in `GROUPS`
adds it; its runs are sets of `studies/msvb-sio/runs.toml`, and what is read off them is in `method`.
"""

from __future__ import annotations

from perhop import stats
from perhop_studies import Paper, Study
from perhop_studies.criteria import Cell
from perhop_studies.msvb_sio import beyond, fairness, idle, lemma, protection, stability, weighted
from perhop_studies.msvb_sio.figures import draw
from perhop_studies.msvb_sio.method import METHOD
from perhop_studies.samples import Samples

GROUPS = (stability, protection, fairness, weighted, idle, lemma, beyond)


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """What was measured where the paper printed a cell, in the cell's unit."""
    found = {name: measure for group in GROUPS for name, measure in getattr(group, "CELLS", {}).items()}
    return stats.interval(found[printed.study](runs, printed))


_ORDER = (
    "msvb-fig2",
    "sio-table1",
    "msvb-fig3",
    "msvb-fig4",
    "msvb-fig5",
    "msvb-fig6",
    "msvb-idle-class",
    "svb-lemma31",
)


def _in_order() -> list[Study]:
    found = {study.id: study for group in GROUPS for study in group.STUDIES}
    return [found.pop(name) for name in _ORDER if name in found] + list(found.values())


PAPER = Paper(
    name="msvb-sio",
    title="MSVB and SIO: Active Queue Management for Multiple Classes and for Differentiated Services",
    source="Pennsylvania State University; SVB itself: GLOBECOM 2002, pp. 1628-1632",
    studies=_in_order(),
    method=METHOD,
    measured="Ten classes share a link of 10 Mbit/s with room for 100 packets of 1000 B. A class's throughput is what "
    "reaches its sink, headers included, after 10 s; in Fig. 2 and 3 from the start. The queue is what waits, sampled; "
    "Jain's index is that of throughput by share.",
    cell=cell,
    pictures=draw,
)
