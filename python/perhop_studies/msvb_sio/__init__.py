"""MSVB and SIO: the studies in the order of the paper's section 4, then those it does not have.

Most claims are data (claims.toml), on quantities of `method`. A module has a study whose claims need Python; `figures`
draws them all.
"""

from __future__ import annotations

from perhop import stats
from perhop_studies import Paper, Study
from perhop_studies.criteria import Cell
from perhop_studies.msvb_sio.beyond import recovery, unused
from perhop_studies.msvb_sio.figures import draw, row_of_table
from perhop_studies.msvb_sio.idle import idle_class
from perhop_studies.msvb_sio.lemma import lemma31
from perhop_studies.msvb_sio.load import fig2
from perhop_studies.msvb_sio.method import METHOD
from perhop_studies.msvb_sio.terms import CIRS
from perhop_studies.samples import Samples


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """What was measured where the paper printed a cell, in the cell's unit; SIO's under P1."""
    scheme, name = printed.column.split()
    cir = next(c for c, head in CIRS.items() if head == name)
    return stats.interval(row_of_table(runs, printed.row, {"RIO": "rio", "SIO": "P1"}[scheme], cir))


PAPER = Paper(
    name="msvb-sio",
    title="MSVB and SIO: Active Queue Management for Multiple Classes and for Differentiated Services",
    source="Pennsylvania State University; SVB itself: GLOBECOM 2002, pp. 1628-1632",
    studies=[
        fig2,
        Study("sio-table1", title="Table 1: protecting in-profile packets", runs="sio-table1"),
        Study("msvb-fig3", title="Fig. 3: round-trip times", runs="msvb-fig3"),
        Study("msvb-fig4", title="Fig. 4: unresponsive flows", runs="msvb-fig4"),
        Study("msvb-fig5", title="Fig. 5: weighted shares", runs="msvb-fig5"),
        Study("msvb-fig6", title="Fig. 6: share and delay apart", runs="msvb-fig5"),
        Study("sio-out", title="Section 3.3: OUT's threshold", runs="sio-out"),
        Study("sio-fairness", title="Sections 1 and 3.3: how fair SIO is", runs="sio-table1"),
        idle_class,
        lemma31,
        unused,
        recovery,
    ],
    method=METHOD,
    measured="Ten classes share a link of 10 Mbit/s with room for 100 packets of 1000 B. A class's throughput is what "
    "reaches its sink, headers included, after 10 s; in Fig. 2 and 3 from the start. The queue is what waits, sampled; "
    "Jain's index is that of throughput by share.",
    cell=cell,
    pictures=draw,
)
