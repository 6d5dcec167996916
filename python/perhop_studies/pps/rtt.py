"""Table III and Fig. 11: round-trip times."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell, load
from perhop_studies.pps.terms import Rates, Shares, ratio, settled
from perhop_studies.runs import data
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, at_least, greater

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
    return shares.by_row(lambda row: measures.slope(ROUND_TRIPS[case], row))


@tab3.claim("equal-times")
def fairer_than_reno(runs: Samples, scheme: str, size: int) -> Measured:
    """When all the RTTs are the same, PPS allocates bandwidth more fairly than Reno TCP with RED."""
    pps, reno = (ten(runs, "a", s, size).deviation for s in (scheme, "reno"))
    parts = [Value("sigma PPS", pps), Value("sigma PPS/Reno", ratio(pps, reno))]
    return Measured(parts, f"sigma Reno {stats.mean(reno):.4f}.")


@tab3.claim("unequal-times")
def less_biased_than_reno(runs: Samples, scheme: str, size: int) -> Measured:
    """When RTTs vary there is still a bias against long-RTT flows, but much less than Reno's."""
    pps, reno = (ten(runs, "b", s, size) for s in (scheme, "reno"))
    return Measured(_bias(pps, reno), f"sigma Reno {stats.mean(reno.deviation):.4f}.")


def _bias(pps: Shares, reno: Shares) -> list[Value]:
    return [
        Value("sigma PPS/Reno", ratio(pps.deviation, reno.deviation)),
        Value("max/min PPS", pps.spread),
        Value("slope PPS, Mb/s per ms", slope(pps, "b")),
        Value("slope Reno, Mb/s per ms", slope(reno, "b")),
    ]


@tab3.claim("bias-as-said")
def a_bias_and_much_less(runs: Samples, scheme: str, size: int) -> Measured:
    """The same, with the slope by that of Reno."""
    pps, reno = (ten(runs, "b", s, size) for s in (scheme, "reno"))
    steepness = Value("slope, PPS/Reno", ratio(slope(pps, "b"), slope(reno, "b")))
    return Measured([*_bias(pps, reno), steepness], f"sigma Reno {stats.mean(reno.deviation):.4f}.")


FAR_HALF, NEAR_HALF = FLOWS[:5], FLOWS[5:]
"""Flows of Table III b with round trips of 180 to 300 ms, and of 30 to 150 ms."""


def _favour(runs: Samples, scheme: str, size: int) -> list[float]:
    """How many more of their packets near flows lose than far ones, in Table III b."""
    found = runs.at(case="b", scheme=scheme, size=size)
    far, close = (
        [stats.mean(row) for row in zip(*(found.values(f"{flow}.lost") for flow in half), strict=True)]
        for half in (FAR_HALF, NEAR_HALF)
    )
    return stats.differences(far, close)


@tab3.claim("far-flows-lose-less")
def packets_of_far_flows_get_through(runs: Samples, scheme: str, size: int) -> Measured:
    """Packets of a flow with a large RTT are more likely to get through; with Reno TCP and RED less so."""
    pps, reno = (_favour(runs, s, size) for s in (scheme, "reno"))
    parts = [Value("share lost, near flows - far flows, PPS", pps)]
    return Measured([*parts, Value("the same, PPS - Reno", stats.differences(reno, pps))])


@tab3.claim("reno-spread")
def reno_is_biased(runs: Samples, size: int) -> Finding:
    """Reno's own bias."""
    part = at_least("max/min Reno", ten(runs, "b", "reno", size).spread, 2.5)
    row = {"max/min Reno": part.interval.mean}
    return Finding([part]) if size == 500 else Finding([], "", [row], seeds=part.interval.n)


@tab3.claim("spread-amount")
def as_biased_as_published(runs: Samples, scheme: str, size: int) -> Measured:
    """The printed deviation."""
    return Measured([Value("sigma PPS", ten(runs, "b", scheme, size).deviation)])


@tab3.claim("sum")
def the_link_is_full(runs: Samples, scheme: str, size: int) -> Measured:
    """The ten flows share 1.1 Mb/s."""
    parts = [
        Value(f"{case}: sum {name}", ten(runs, case, s, size).total())
        for case in ROUND_TRIPS
        for s, name in ((scheme, "PPS"), ("reno", "Reno"))
    ]
    return Measured(parts, settled(runs.at(case="b", scheme=scheme, size=size), EQUAL))


@fig11.claim("large-share-loses-more")
def a_large_share_suffers_more(runs: Samples, **at: Any) -> Measured:
    """A larger RTT has a more negative influence on flow 10 than on flow 1."""
    found = {case: Shares.of(runs.at(case=case, **at), FIG11) for case in FAR}
    deficit = {case: [1 - y for y in found[case].y(flow)] for case, flow in FAR.items()}
    lost = {case: [FIG11[flow] * d for d in deficit[case]] for case, flow in FAR.items()}
    parts: list[Value | Part] = [
        greater(Value("deficit of flow 10 in Y", deficit["Y"]), Value("of flow 1 in X", deficit["X"])),
        greater(Value("Mb/s lost by flow 10 in Y", lost["Y"]), Value("by flow 1 in X", lost["X"])),
    ]
    for case, far in FAR.items():
        parts += [Value(f"{case}: x/e {flow}", found[case].y(flow)) for flow in FLOWS if flow != far]
    means = ", ".join(f"{FAR[case]} in {case} {stats.mean(values):.3f}" for case, values in deficit.items())
    return Measured(parts, f"Deficits: {means}.")


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A flow's rate, or the deviation, in the case and the scheme that the column names."""
    case, scheme = printed.column.split(" ")
    found = Shares.of(runs.at(case=case, scheme=scheme.lower()), EQUAL)
    _, _, flow = printed.row.partition("flow ")
    return found.x(f"f{flow}") if flow else found.deviation


def printed(column: str) -> list[float]:
    """The ten rates of a column of Table III, Mbit/s."""
    cells = load(data("pps") / "criteria.toml").table("pps-tab3")
    return [c.published for c in cells if c.column == column and c.row.startswith("flow") and c.at["size"] == 1000]


CELLS = {"pps-tab3": cell}
