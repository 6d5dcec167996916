"""REDP with a combined dropper: the studies in the order of the paper's section III, then UDP and what goes beyond it.

Runs are sets of `runs.toml`, what is read off them is in `method`, and claims are in `claims.toml` or in Python.
"""

from __future__ import annotations

from perhop_studies import Paper
from perhop_studies.redp import claims, ours
from perhop_studies.redp.figures import draw
from perhop_studies.redp.method import METHOD, answer

PAPER = Paper(
    name="redp",
    title="Performance Analysis of REDP Marker with a combined Dropper for improving TCP Fairness of Assured Services",
    source="K. Hur et al., Journal of the KICS; REDP itself: IEEE JSAC 18(12), 2000, pp. 2640-2650",
    studies=[*claims.STUDIES, *ours.STUDIES],
    method=METHOD,
    measured="Rates are those of packets as received at the sink, headers included, by the colour they have there, "
    "after 10 s; the queue at CR1 is sampled each 10 ms. The regime of phase effects has a buffer of 30 packets, a "
    "least time-out of 1 s and no jitter.",
    pictures=draw,
    answer=answer,
)
