"""Tuned RIO queues and a tuned PAM, which gave "better results" that the paper does not show."""

from __future__ import annotations

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pam_fsam.terms import FEW, FSAM, NAMES, PAM, gain, pooled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value

FIGURES = ("fig4", "fig7")
RIO, OF_PAM = ("RIO gentle", "OUT 10-40", "OUT 10-20, max-p .02"), "PAM P_max .1"

tuned = Study(
    "pf-tuned",
    title="Section VI-C: RIO and PAM, tuned",
    runs=("pf-fig4", "pf-fig7", *(f"pf-tuned-{figure}" for figure in FIGURES)),
)
STUDIES = [tuned]


def _gains(runs: Samples, figure: str, marker: str, tuning: str = "") -> list[float]:
    """g pooled over n <= 10; without a tuning that of the frozen runs."""
    mine = runs.of(f"pf-tuned-{figure}").at(tuning=tuning) if tuning else runs.of(f"pf-{figure}")
    mine = mine.at(arrivals="jittered") if "arrivals" in mine.grid() and figure == "fig7" else mine
    return pooled([gain(mine, marker, n=n) for n in FEW])


def _more(runs: Samples, figure: str, marker: str, tuning: str) -> Value:
    found = stats.differences(_gains(runs, figure, marker), _gains(runs, figure, marker, tuning))
    return Value(f"Fig. {figure[3:]}: g({NAMES[marker]}) with {tuning} - with the defaults", found)


@tuned.claim("better-with-rio-tuned")
def better_with_another_rio(runs: Samples) -> Measured:
    """Of the tunings the one that is best for it."""
    found = [[_more(runs, figure, m, one) for one in RIO] for figure in FIGURES for m in (FSAM, PAM)]
    return Measured([max(row, key=lambda value: stats.mean(value.values)) for row in found])


@tuned.claim("better-with-pam-tuned")
def better_with_another_pam(runs: Samples) -> Measured:
    """PAM with RED's own P_max, which makes it nearly a token bucket."""
    return Measured([_more(runs, figure, PAM, OF_PAM) for figure in FIGURES])


@tuned.claim("gains-by-tuning")
def gains_by_tuning(runs: Samples) -> Finding:
    """A row for each tuning."""
    rows = []
    for tuning in ("", *RIO, OF_PAM):
        found = {f"Fig. {f[3:]}: g({NAMES[m]})": _gains(runs, f, m, tuning) for f in FIGURES for m in (FSAM, PAM)}
        rows.append({"tuning": tuning or "defaults"} | {name: stats.mean(values) for name, values in found.items()})
    return Finding([], "Gains over the token bucket with the same queue.", rows, seeds=len(next(iter(found.values()))))
