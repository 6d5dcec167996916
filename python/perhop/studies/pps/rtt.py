"""Table III and Fig. 11: round-trip times."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop.studies import Study
from perhop.studies.criteria import Cell
from perhop.studies.pps.terms import Rates, Shares, ratio, settled
from perhop.studies.samples import Samples
from perhop.studies.verdict import (
    Finding,
    at_least,
    at_most,
    greater,
    less_than,
    near,
    surely_below,
    within,
)

tab3 = Study("pps-tab3", title="Table III: round-trip times, PPS and Reno over RED", runs="pps-tab3")
fig11 = Study("pps-fig11", title="Fig. 11: one flow with ten times the round-trip time", runs="pps-fig11")
STUDIES = [tab3, fig11]

FLOWS = [f"f{i}" for i in range(1, 11)]
EQUAL: Rates = dict.fromkeys(FLOWS, 0.11)
ROUND_TRIPS = {"a": [30] * 10, "b": [330 - 30 * i for i in range(1, 11)]}
"""ms, by case and flow."""
FIG11: Rates = {flow: 0.02 * i for i, flow in enumerate(FLOWS, 1)}
FAR = {"X": "f1", "Y": "f10"}
"""The flow at 260 ms, by case."""


def ten(runs: Samples, case: str, scheme: str, size: int) -> Shares:
    """The ten flows of Table III."""
    return Shares.of(runs.at(case=case, scheme=scheme, size=size), EQUAL)


def slope(shares: Shares, case: str) -> list[float]:
    """Of x against the round-trip time, Mbit/s per ms, by replication."""
    return shares.by_row(lambda row: stats.slope(ROUND_TRIPS[case], row))


@tab3.claim("equal-times")
def fairer_than_reno(runs: Samples, scheme: str, size: int) -> Finding:
    """When all the RTTs are the same, PPS allocates bandwidth more fairly than Reno TCP with RED."""
    pps, reno = (ten(runs, "a", s, size).deviation for s in (scheme, "reno"))
    parts = [at_most("sigma PPS", pps, 0.004), surely_below("sigma PPS/Reno", ratio(pps, reno), 0.8)]
    return Finding(parts, f"sigma Reno {stats.mean(reno):.4f}.")


@tab3.claim("unequal-times")
def less_biased_than_reno(runs: Samples, scheme: str, size: int) -> Finding:
    """When RTTs vary there is still a bias against long-RTT flows, but much less than Reno's."""
    pps, reno = (ten(runs, "b", s, size) for s in (scheme, "reno"))
    parts = [
        at_most("sigma PPS/Reno", ratio(pps.deviation, reno.deviation), 0.5),
        at_most("max/min PPS", pps.spread, 2.0),
        less_than("slope PPS, Mb/s per ms", slope(pps, "b"), 0),
        less_than("slope Reno, Mb/s per ms", slope(reno, "b"), 0),
    ]
    return Finding(parts, f"sigma Reno {stats.mean(reno.deviation):.4f}.")


@tab3.claim("reno-spread")
def reno_is_biased(runs: Samples, size: int) -> Finding:
    """Reno's own bias."""
    found = ten(runs, "b", "reno", size).spread
    part = at_least("max/min Reno", found, 2.5)
    if size == 500:
        return Finding([part])
    return Finding([], "", [{"max/min Reno": part.interval.mean}], seeds=part.interval.n)


@tab3.claim("spread-amount")
def as_biased_as_published(runs: Samples, scheme: str, size: int) -> Finding:
    """The printed deviation."""
    return Finding([within("sigma PPS", ten(runs, "b", scheme, size).deviation, (0.007, 0.025))])


@tab3.claim("sum")
def the_link_is_full(runs: Samples, scheme: str, size: int) -> Finding:
    """The ten flows share 1.1 Mb/s."""
    parts = [
        within(f"{case}: sum {name}", ten(runs, case, s, size).total(), (1.04, 1.11))
        for case in ROUND_TRIPS
        for s, name in ((scheme, "PPS"), ("reno", "Reno"))
    ]
    return Finding(parts, settled(runs.at(case="b", scheme=scheme, size=size), EQUAL))


@fig11.claim("large-share-loses-more")
def a_large_share_suffers_more(runs: Samples, **at: Any) -> Finding:
    """A larger RTT has a more negative influence on flow 10 than on flow 1."""
    found = {case: Shares.of(runs.at(case=case, **at), FIG11) for case in FAR}
    deficit = {case: [1 - y for y in found[case].y(flow)] for case, flow in FAR.items()}
    lost = {case: [FIG11[flow] * d for d in deficit[case]] for case, flow in FAR.items()}
    parts = [
        greater(("deficit of flow 10 in Y", "of flow 1 in X"), deficit["Y"], deficit["X"]),
        greater(("Mb/s lost by flow 10 in Y", "by flow 1 in X"), lost["Y"], lost["X"]),
    ]
    for case, far in FAR.items():
        parts += [near(f"{case}: x/e {flow}", found[case].y(flow), 0.20) for flow in FLOWS if flow != far]
    means = ", ".join(f"{FAR[case]} in {case} {stats.mean(values):.3f}" for case, values in deficit.items())
    return Finding(parts, f"Deficits: {means}.")


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A flow's rate, or the deviation, in the case and the scheme that the column names."""
    case, scheme = printed.column.split(" ")
    found = Shares.of(runs.at(case=case, scheme=scheme.lower()), EQUAL)
    _, _, flow = printed.row.partition("flow ")
    return found.x(f"f{flow}") if flow else found.deviation


CELLS = {"pps-tab3": cell}
