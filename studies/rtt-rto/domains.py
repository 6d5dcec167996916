"""Fig. 6 and the text about it: five aggregates over three domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.rtt_rto.terms import (
    BASIC,
    LABELS,
    MANY,
    RTO,
    STANDARD,
    SW,
    at_least_times,
    averages,
    means,
    ratios,
    uneven,
)
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, greater

fig6 = Study("rtt-fig6", title="Fig. 6: multiple domains", runs="rtt-fig6")
extreme = Study("rtt-67x", title="Contracts of next to nothing", runs="rtt-67x")
STUDIES = [fig6, extreme]

FLOWS = ("F1", "F2", "F3", "F4", "F5")
LONG = ("F1", "F2")
COUNTS = (10, 50, 100, 200)


def by_short(runs: Samples, flows: Sequence[str] = LONG) -> list[float]:
    """F3 by the mean of the others."""
    return ratios(runs.values("F3"), averages(runs, flows))


def jain(runs: Samples) -> list[float]:
    """Jain's index over F1 to F4."""
    return [measures.jain(row) for row in zip(*(runs.values(flow) for flow in FLOWS[:4]), strict=True)]


def _rates(found: Samples) -> str:
    return "Mb/s: " + ", ".join(f"{name} {found.mean(name).mean:.2f}" for name in FLOWS)


@fig6.claim("basic-favours-long")
def long_flows_get_more(runs: Samples) -> Measured:
    """With the basic conditioner F1 and F2 get much more than flows with short round trips."""
    found = runs.at(marker=BASIC, n=MANY)
    long = ratios(averages(found, LONG), found.values("F3"))
    return Measured([Value("mean(F1, F2)/F3", long)], _rates(found))


@fig6.claim("sw-favours-short")
def short_flows_get_more(runs: Samples) -> Measured:
    """With RTT-SW the short ones get much more than the long."""
    found = runs.at(marker=SW, n=MANY)
    return Measured([Value("F3/mean(F1, F2)", by_short(found))], _rates(found))


@fig6.claim("rto-is-fair")
def almost_the_same(runs: Samples) -> Measured:
    """With RTT-RTO F1, F2 and F4 are almost equal, and F3 is a little higher."""
    found, trio = runs.at(marker=RTO, n=MANY), ("F1", "F2", "F4")
    parts: list[Value | Part] = [
        greater(Value("jain RTT-RTO", jain(found)), Value(LABELS[m], jain(runs.at(marker=m, n=MANY))))
        for m in (BASIC, SW)
    ]
    parts.append(Value("max/min(F1, F2, F4)", uneven(found, trio)))
    return Measured([*parts, Value("F3/mean(F1, F2, F4)", by_short(found, trio))], _rates(found))


@fig6.claim("others")
def every_number(runs: Samples) -> Finding:
    """All numbers of flows, all conditioners."""
    rows: list[dict[str, Any]] = []
    for n in COUNTS:
        for marker in (STANDARD, BASIC, RTO, SW):
            found = runs.at(marker=marker, n=n)
            rates = means(found, (*FLOWS, "drop ratio"))
            rows.append({"n": n, "conditioner": LABELS[marker], **rates, "jain, F1 to F4": stats.mean(jain(found))})
    return Finding([], "Mb/s", rows, seeds=len(found.all))


@extreme.claim("standard-is-unfair")
def short_takes_all(runs: Samples) -> Measured:
    """Under the standard conditioner F3 gets a multiple of F1 and F2, under RTT-RTO about the same."""
    plain, rto = (runs.at(marker=marker) for marker in (STANDARD, RTO))
    parts: list[Value | Part] = [Value("standard: F3/mean(F1, F2)", by_short(plain))]
    parts.append(
        at_least_times(Value("F3/mean(F1, F2): standard", by_short(plain)), Value("RTT-RTO", by_short(rto)), 3)
    )
    return Measured(parts, f"Standard, {_rates(plain)}; RTT-RTO, {_rates(rto)}")


@extreme.claim("ratio")
def beside_67(runs: Samples) -> Finding:
    """F3 by the mean of F1 and F2, under each."""
    rows: list[dict[str, Any]] = []
    for marker in (STANDARD, BASIC, RTO, SW):
        found = runs.at(marker=marker)
        least = ratios(found.values("F3"), [min(row) for row in zip(*(found.values(f) for f in LONG), strict=True)])
        shown = {"F3/mean(F1, F2)": stats.mean(by_short(found)), "F3/min(F1, F2)": stats.mean(least)}
        rows.append({"conditioner": LABELS[marker], **means(found, FLOWS), **shown})
    return Finding([], "Mb/s", rows, seeds=len(found.all))
