"""Fig. 3 and 4: two aggregates, one of them with a longer round trip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.rtt_rto.terms import (
    BASIC,
    FEW,
    LABELS,
    MANY,
    PAIR,
    RTO,
    RTTS,
    STANDARD,
    STANDARD_SW,
    SW,
    at_least_times,
    means,
    ratio,
    ratios,
    uneven,
)
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, difference, greater

fig3 = Study("rtt-fig3", title="Fig. 3: small windows protected, standard conditioner", runs="rtt-fig4")
fig4 = Study("rtt-fig4", title="Fig. 4: fairness between round trips", runs=("rtt-fig4", "rtt-fig4-rto"))
STUDIES = [fig3, fig4]

ENDS = (200, 20)
LONG = tuple(rtt for rtt in RTTS if rtt >= 50)


def _pair(runs: Samples, **at: int) -> tuple[Samples, Samples]:
    """The standard conditioner, and with small windows protected."""
    return runs.at(marker=STANDARD, **at), runs.at(marker=STANDARD_SW, **at)


@fig3.measures
def small_windows_protected(runs: Samples) -> Iterator[Value]:
    """SW: more in all, close to capacity, if there are many flows; less for the longer of two round trips."""
    for rtt in RTTS:
        plain, sw = (found.values("total") for found in _pair(runs, n=MANY, rtt=rtt))
        yield difference(Value(f"{rtt} ms: total SW", sw), Value("standard", plain))
        yield Value(f"{rtt} ms: total SW", sw)
        few, few_sw = (found.values("total") for found in _pair(runs, n=FEW, rtt=rtt))
        yield Value(f"{rtt} ms: total SW / standard", ratios(few_sw, few))
    for rtt in LONG:
        plain, sw = (ratio(found, *PAIR) for found in _pair(runs, n=MANY, rtt=rtt))
        yield difference(Value(f"{rtt} ms: F1/F2 SW", sw), Value("standard", plain))
    for n in (FEW, MANY):
        late, early = (_pair(runs, n=n, rtt=rtt) for rtt in ENDS)
        yield difference(Value(f"n={n}: F2 SW at 20 ms", early[1].values("F2")), Value("at 200", late[1].values("F2")))
        for marker, before, after in zip((STANDARD, STANDARD_SW), early, late, strict=True):
            dropped = Value(f"n={n}, {LABELS[marker]}: drop ratio at 20 ms", before.values("drop ratio"))
            yield difference(dropped, Value("at 200", after.values("drop ratio")))


def many(runs: Samples, marker: str, rtt: int = 100) -> Samples:
    """200 flows each."""
    return runs.of("rtt-fig4").at(marker=marker, n=MANY, rtt=rtt)


@fig4.claim("basic-starves-short")
def most_of_the_extra(runs: Samples) -> Measured:
    """Flow 1 achieves only 2.3 Mb/s with the basic conditioner, whereas Flow 2 gets 7.52."""
    basic = many(runs, BASIC)
    note = f"F1 {basic.mean('F1').mean:.2f}, F2 {basic.mean('F2').mean:.2f}, total {basic.mean('total').mean:.2f} Mb/s"
    return Measured([Value("F1", basic.values("F1")), Value("F2/F1", ratio(basic, "F2", "F1"))], note)


@fig4.claim("bias-removed")
def unfairness_is_mitigated(runs: Samples) -> Measured:
    """RTT-RTO and RTT-SW mitigate the unfairness."""
    basic = many(runs, BASIC).values("F1")
    parts: list[Value | Part] = []
    for marker in (RTO, SW):
        found, name = many(runs, marker), LABELS[marker]
        parts.append(Value(f"{name}: max/min", uneven(found)))
        parts.append(at_least_times(Value(f"{name}: F1", found.values("F1")), Value("basic's", basic), 1.5))
        parts.append(Value(f"{name}: total", found.values("total")))
    return Measured(parts)


@fig4.claim("at-200ms")
def also_at_200(runs: Samples) -> Measured:
    """The same at 200 ms."""
    parts = [Value("basic: F2/F1", ratio(many(runs, BASIC, 200), "F2", "F1"))]
    return Measured([*parts, Value("RTT-RTO: max/min", uneven(many(runs, RTO, 200)))])


@fig4.claim("marking")
def red_by_q(runs: Samples) -> Measured:
    """Out of profile a packet is DP2 with probability q."""
    parts = []
    for marker in (BASIC, RTO, SW):
        found = many(runs, marker)
        for flow in PAIR:
            off = stats.differences(found.values(f"{flow}.q"), found.values(f"{flow}.out"))
            name = f"{LABELS[marker]}, {flow}: DP2 share - q"
            parts.append(Value(name, off))
    shares = {f"{LABELS[m]} {flow}": many(runs, m).mean(f"{flow}.out").mean for m in (BASIC, RTO, SW) for flow in PAIR}
    parts.append(Value("RTT-RTO, F2: DP2 share", many(runs, RTO).values("F2.out")))
    return Measured(parts, "DP2 shares: " + ", ".join(f"{name} {x:.3f}" for name, x in shares.items()))


@fig4.claim("few-flows")
def works_for_few(runs: Samples) -> Measured:
    """Few flows: the standard conditioner favours the short round trip, the others less."""
    found = {marker: runs.of("rtt-fig4").at(marker=marker, n=FEW, rtt=100) for marker in (STANDARD, BASIC, RTO, SW)}
    spread = {marker: uneven(mine) for marker, mine in found.items()}
    parts: list[Value | Part] = [
        Value("standard: F1/F2", ratio(found[STANDARD], *PAIR)),
        Value("basic: max/min", spread[BASIC]),
    ]
    parts += [greater(Value("max/min: standard", spread[STANDARD]), Value(LABELS[m], spread[m])) for m in (RTO, SW)]
    return Measured(parts)


SHOWN = ("F1", "F2", "total", "drop ratio", "F1.timeouts", "F2.timeouts", "F1.DP0", "F2.DP0")
"""What a row of a report has."""


@fig4.claim("others")
def all_of_it(runs: Samples) -> Finding:
    """Every round trip, every conditioner; and senders that wait 1 s at least."""
    rows: list[dict[str, Any]] = []
    sets = {"200 ms": runs.of("rtt-fig4"), "1 s": runs.of("rtt-fig4-rto")}
    for least, found in sets.items():
        grid = found.grid()
        for n in grid["n"]:
            for rtt in grid["rtt"]:
                for marker in (m for m in grid["marker"] if m != STANDARD_SW):
                    mine = found.at(n=n, rtt=rtt, marker=marker)
                    where = {"minRTO": least, "n": n, "RTT of F2, ms": rtt, "conditioner": LABELS[marker]}
                    rows.append({**where, **means(mine, SHOWN)})
    return Finding([], "Mb/s", rows, seeds=len(many(runs, BASIC).all))
