"""The worked example of Fig. 1, and what happens on it when a flow comes (Fig. 8) or tickets change (Fig. 9)."""

from __future__ import annotations

import math

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pps.terms import Rates, Shares, mbit, ratio, settled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Part, Value, greater

ex1 = Study("pps-ex1", title="Fig. 1: three flows, three currencies", runs=("pps-ex1", "pps-ex1-limited"))
fig8 = Study("pps-fig8", title="Fig. 8: A comes at 100 s", runs="pps-fig8")
fig9 = Study("pps-fig9", title="Fig. 9: tickets change at 100 s", runs="pps-fig9")
local = Study(
    "pps-local", title="Section III-I: A's share alone changes, PPS and CSFQ", runs=("pps-local", "pps-local-csfq")
)
STUDIES = [ex1, fig8, fig9, local]

EX1: dict[str, Rates] = {
    "all": {"A": 0.5, "B": 0.25, "C": 0.25},
    "silent": {"A": 0.75, "C": 0.25},
    "limited": {"A": 0.56, "B": 0.16, "C": 0.28},
}
"""Expected rates by case: all active, B silent, B limited to 0.16 Mbit/s."""

FIG8: tuple[Rates, Rates] = ({"B": 0.75, "C": 0.25}, {"A": 0.5, "B": 0.25, "C": 0.25})
FIG9: tuple[Rates, Rates] = ({"A": 0.5, "B": 0.25, "C": 0.25}, {"A": 0.3, "B": 0.45, "C": 0.25})
"""Before and after the change."""

CHANGE, END = 100, 200
AVERAGED, HELD, NEAR = 10, 20, 0.2
"""Convergence: the mean of the last 10 s stays within 20 % for 20 s."""


@ex1.claim("shares")
def each_gets_its_share(runs: Samples, scheme: str, size: int) -> Measured:
    """0.5, 0.25 and 0.25 Mb/s; without B 0.75 and 0.25; with B at 0.16 Mb/s, 0.56 and 0.28."""
    found = {case: runs.at(scheme=scheme, size=size, case=case) for case in EX1}
    shares = {case: Shares.of(found[case], e) for case, e in EX1.items()}
    all_active, limited = shares["all"], shares["limited"]
    parts: list[Value | Part] = [part for case, s in shares.items() for part in s.each(f"{case}: x/e")]
    parts += [greater(Value("all: A", all_active.x("A")), Value(other, all_active.x(other))) for other in ("B", "C")]
    parts += [
        Value("all: B/C", all_active.ratio("B", "C")),
        Value("limited: B/0.16", limited.y("B")),
        Value("limited: A/C", limited.ratio("A", "C")),
    ]
    return Measured(parts, " ".join(f"{case}: {settled(found[case], e)}" for case, e in EX1.items()))


def shares_over(runs: Samples, expected: Rates, first: int, last: int) -> Shares:
    """The flows' mean shares between two seconds."""
    seconds = [[mbit(runs.values(f"{flow}@{t}")) for t in range(first + 1, last + 1)] for flow in expected]
    columns = [[stats.mean(values) for values in zip(*flow, strict=True)] for flow in seconds]
    return Shares(expected, [list(row) for row in zip(*columns, strict=True)])


def convergence(runs: Samples, flow: str, share: float) -> list[float]:
    """Seconds after the change until a flow has its new share, by replication; infinite if it never has."""
    bins = zip(*(mbit(runs.values(f"{flow}@{t}")) for t in range(1, END + 1)), strict=True)
    return [settles(list(seconds), share) for seconds in bins]


def settles(seconds: list[float], share: float) -> float:
    """As `convergence`, of one replication's seconds."""

    def close(t: int) -> bool:
        return abs(stats.mean(seconds[t - AVERAGED : t]) / share - 1) <= NEAR

    times = range(CHANGE, END - HELD + 1)
    return next((t - CHANGE for t in times if all(map(close, range(t, t + HELD + 1)))), math.inf)


@fig8.claim("shares-and-convergence")
def quickly_in_proportion_again(runs: Samples, scheme: str, size: int) -> Measured:
    """B and C obtain 0.75 and 0.25 Mb/s; after A starts they quickly converge to 0.5, 0.25 and 0.25."""
    found = runs.at(scheme=scheme, size=size)
    before, after = shares_over(found, FIG8[0], 20, 95), shares_over(found, FIG8[1], 120, 195)
    parts = [Value("20-95 s: B/C", before.ratio("B", "C"))]
    parts += before.each("20-95 s: x/e") + after.each("120-195 s: x/e")
    return Measured([*parts, Value("convergence of A, s", convergence(found, "A", 0.5))])


@fig8.claim("convergence-amount")
def within_a_few_seconds(runs: Samples, scheme: str, size: int) -> Measured:
    """Quickly."""
    return Measured([Value("convergence of A, s", convergence(runs.at(scheme=scheme, size=size), "A", 0.5))])


@fig9.claim("shares-and-convergence")
def tickets_move_bandwidth(runs: Samples, scheme: str, size: int) -> Measured:
    """A goes from 0.5 to 0.3 Mb/s and B from 0.25 to 0.45; C does not change."""
    found = runs.at(scheme=scheme, size=size)
    before, after = shares_over(found, FIG9[0], 30, 95), shares_over(found, FIG9[1], 130, 195)
    parts = before.each("30-95 s: x/e") + after.each("130-195 s: x/e")
    parts.append(Value("C after/before", ratio(after.x("C"), before.x("C"))))
    parts += [Value(f"convergence of {f}, s", convergence(found, f, FIG9[1][f])) for f in ("A", "B")]
    return Measured(parts)


def _kept(runs: Samples) -> list[float]:
    """What C has after the change by what it had before."""
    before, after = (shares_over(runs, {"C": 0.25}, first, last).x("C") for first, last in ((30, 95), (130, 195)))
    return ratio(after, before)


@local.claim("c-keeps-its-share")
def decisions_stay_local(runs: Samples, scheme: str, size: int) -> Measured:
    """When S3 changes what it issues to A, it has no influence on C."""
    return Measured([Value("C after/before", _kept(runs.of("pps-local").at(scheme=scheme, size=size)))])


@local.claim("csfq-moves-c")
def weights_do_not(runs: Samples, size: int) -> Measured:
    """In CSFQ a change of A's weight influences C."""
    csfq, pps = (
        _kept(runs.of("pps-local-csfq").at(size=size)),
        _kept(runs.of("pps-local").at(scheme="sender", size=size)),
    )
    moved = Value("C after/before, CSFQ - PPS", stats.differences(pps, csfq))
    return Measured([Value("CSFQ: C after/before", csfq), moved])
