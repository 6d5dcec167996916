"""The RTT-RTO aware conditioner: the studies in the order of the paper's section VI.

Runs are sets of `runs.toml`, what is read off them is in `method`; most claims are data (`claims.toml`).
"""

from __future__ import annotations

from perhop_studies import Paper
from perhop_studies.rtt_rto import bulk, tables
from perhop_studies.rtt_rto.figures import draw
from perhop_studies.rtt_rto.method import METHOD

PAPER = Paper(
    name="rtt-rto",
    title="A Round Trip Time and Timeout Aware Traffic Conditioner for Differentiated Services Networks",
    source="A. Habib, B. Bhargava, S. Fahmy, Purdue University, CSD TR 01-021, November 2001",
    studies=[*bulk.STUDIES, *tables.STUDIES],
    method=METHOD,
    measured="Throughput is what applications got after 20 s, packets of 1024 bytes counted whole, as the paper's ns-2 "
    "did: with headers taken off, 10 Mb/s would bring 9.61, and the paper prints 2.3 + 7.52.",
    cell=tables.cell,
    pictures=draw,
)
