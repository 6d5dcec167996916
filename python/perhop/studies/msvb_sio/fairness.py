"""Fig. 3 and 4: who gets how much of the link, by round-trip time and beside sources that heed no drop."""

from __future__ import annotations

from perhop.studies import Study
from perhop.studies.msvb_sio.terms import CLASSES, Division
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding, at_least

fig4 = Study("msvb-fig4", title="Fig. 4: unresponsive flows", runs="msvb-fig4")
STUDIES = [fig4]

TCP, UDP = CLASSES[:5], CLASSES[5:]
EVEN_INDEX, POINTS = 0.99, 1.0


def load(runs: Samples, scheme: str, rates: int = 15) -> Division:
    """How a queue divides the link under TCP and UDP that offers so many Mbit/s in all."""
    return Division.of(runs.at(scheme=scheme, rates=rates))


@fig4.claim("msvb-fair")
def bandwidth_is_almost_even(runs: Samples) -> Finding:
    """In MSVB the bandwidth is almost evenly distributed among all classes."""
    found = load(runs, "msvb")
    return Finding([at_least("jain MSVB", found.jain, EVEN_INDEX), *found.each_within(POINTS)])
