"""Fig. 8: two boundaries in a row; the second promotes what the first demoted."""

from __future__ import annotations

from perhop_studies import Study
from perhop_studies.redp.terms import both
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, exact

fig8 = Study("redp-fig8", title="Fig. 8: fairness in promotion", runs=("redp-fig8", "redp-fig8-start"))
STUDIES = [fig8]


def pair(runs: Samples) -> tuple[Samples, Samples]:
    """Plain REDP and the dropper at both boundaries."""
    return both(runs.of("redp-fig8"))


@fig8.claim("dropper-rests-at-er2")
def no_dropping_in_concatenation(runs: Samples) -> Finding:
    """Yellow comes in at ER2, so its dropper does not act; counted from the first packet on, which is more."""
    drops = runs.of("redp-fig8-start").values("ER2.dropped_early")
    level = "ER2's bucket is never below T_L here, so that no reading of the meter differs; redp-meter has one that is"
    most = max(drops)
    return Finding([exact("most drops by ER2's dropper in a run", most, holds=most == 0)], level, seeds=len(drops))
