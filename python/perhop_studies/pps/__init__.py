"""PPS (Zhang, Wang, Peterson, Krishnamurthy, 2002): its studies in the order of section III, then those beyond it."""

from __future__ import annotations

from perhop import stats
from perhop_studies import Paper, Study
from perhop_studies.criteria import Cell
from perhop_studies.pps import beside, beyond, domains, rtt, shares, worked
from perhop_studies.pps.figures import draw
from perhop_studies.pps.method import METHOD, answer
from perhop_studies.samples import Samples

GROUPS = (worked, shares, domains, rtt, beside, beyond)
"""Modules of studies: `STUDIES`, and `CELLS` (what a printed cell is compared with) by study."""


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """What was measured where the paper printed a cell, Mbit/s."""
    found = {name: measure for group in GROUPS for name, measure in getattr(group, "CELLS", {}).items()}
    return stats.interval(found[printed.study](runs.at(**printed.at), printed))


_PAPERS = "ex1 fig4 fig6 fig7 fig8 fig9 tab1 tab2 tab3 fig11 tab4 fig12 bits n tickets flows local rich"
_BEYOND = "udp untagged ecn bytes log"


def _in_order() -> list[Study]:
    found = {study.id: study for group in GROUPS for study in group.STUDIES}
    return [found[f"pps-{name}"] for name in f"{_PAPERS} {_BEYOND}".split()]


PAPER = Paper(
    name="pps",
    title="Probabilistic Packet Scheduling: Achieving Proportional Share Bandwidth Allocation for TCP Flows",
    source="M. Zhang, R. Wang, L. Peterson, A. Krishnamurthy, INFOCOM 2002",
    studies=_in_order(),
    method=METHOD,
    measured="Sender-based and receiver-based runs mirror each other. Throughput is what reaches the sink, headers "
    "included, over the whole run of 200 s; a packet of 1000 B or 500 B is counted with its headers, as ns-2 does. "
    "TCP is Reno with timers of the time (100 ms tick, at least 200 ms), never limited by its window.",
    cell=cell,
    pictures=draw,
    answer=answer,
)
