"""Fig. 3 to 6: bulk transfers of two aggregates, one of them with a longer round trip, and of five."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perhop import stats
from perhop_studies import Study
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
    ratios,
    rows,
)
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value, difference

fig3 = Study("rtt-fig3", title="Fig. 3: small windows protected, standard conditioner", runs="rtt-fig4")
fig4 = Study("rtt-fig4", title="Fig. 4: fairness between round trips", runs=("rtt-fig4", "rtt-fig4-rto"))
two = Study("rtt-fig4-2dp", title="Fig. 4 with two drop precedences", runs=("rtt-fig4-2dp", "rtt-fig4-2dp-out"))
under = Study("rtt-under", title="Under-provisioned link", runs="rtt-under")
lived = Study("rtt-lived", title="Small windows protected, short-lived flows", runs="rtt-lived")
fig5 = Study("rtt-fig5", title="Fig. 5: congestion windows of the short aggregate", runs="rtt-fig5")
fig6 = Study("rtt-fig6", title="Fig. 6: multiple domains", runs="rtt-fig6")
extreme = Study("rtt-67x", title="Contracts of next to nothing", runs="rtt-67x")
STUDIES = [fig3, fig4, two, under, lived, fig5, fig6, extreme]

PLACE = {"n": "n", "rtt": "RTT of F2, ms", "marker": "conditioner"}
LONG = RTTS[2:]


def _pair(runs: Samples, quantity: str, n: int, rtt: int) -> tuple[Value, Value]:
    """Of the standard conditioner with small windows protected, and of it alone."""
    plain, sw = (runs.values(quantity, marker=marker, n=n, rtt=rtt) for marker in (STANDARD, STANDARD_SW))
    return Value(f"{rtt} ms: {quantity} SW", sw), Value("standard", plain)


def _shares(runs: Samples, rtt: int) -> Iterator[Value]:
    f1, f2 = (_pair(runs, flow, MANY, rtt) for flow in PAIR)
    for label, a, b in zip((f"{rtt} ms: F1/F2 SW", "standard"), f1, f2, strict=True):
        yield Value(label, ratios(a.values, b.values))


def _falls(runs: Samples, quantity: str, marker: str, n: int, label: str) -> Value:
    """By how much it falls from 20 to 200 ms."""
    early, late = (runs.values(quantity, marker=marker, n=n, rtt=rtt) for rtt in (20, 200))
    return difference(Value(f"{label} at 20 ms", early), Value("at 200", late))


@fig3.measures
def small_windows_protected(runs: Samples) -> Iterator[Value]:
    """SW: more in all, close to capacity, if there are many flows; less for the longer of two round trips."""
    for rtt in RTTS:
        sw, plain = _pair(runs, "total", MANY, rtt)
        yield difference(sw, plain)
        yield sw
        few, few_plain = _pair(runs, "total", FEW, rtt)
        yield Value(f"{few.label} / standard", ratios(few.values, few_plain.values))
    yield from (difference(*_shares(runs, rtt)) for rtt in LONG)
    for n in (FEW, MANY):
        yield _falls(runs, "F2", STANDARD_SW, n, f"n={n}: F2 SW")
        for marker in (STANDARD, STANDARD_SW):
            yield _falls(runs, "drop ratio", marker, n, f"n={n}, {LABELS[marker]}: drop ratio")


@fig4.claim("others")
def all_of_it(runs: Samples) -> Finding:
    """Every round trip, every conditioner; and senders that wait 1 s at least."""
    shown = ("F1", "F2", "total", "drop ratio", "F1.timeouts", "F2.timeouts", "F1.DP0", "F2.DP0")
    found = [
        {"minRTO": least, **row}
        for least, name in {"200 ms": "rtt-fig4", "1 s": "rtt-fig4-rto"}.items()
        for row in rows(runs.of(name), PLACE, shown)
        if row["conditioner"] != LABELS[STANDARD_SW]
    ]
    return Finding([], "Mb/s", found, seeds=len(runs.of("rtt-fig4").values("F1", marker=BASIC, n=MANY, rtt=100)))


@two.measures
def out_by_q(runs: Samples) -> Iterator[Value]:
    """Out of profile a packet is OUT with probability q: the farthest of both aggregates at all round trips."""
    for marker in (BASIC, RTO):
        for n in (FEW, MANY):
            found = runs.of("rtt-fig4-2dp").at(marker=marker, n=n)
            off = (
                stats.differences(found.values(f"{flow}.q", rtt=rtt), found.values(f"{flow}.out", rtt=rtt))
                for rtt in found.grid()["rtt"]
                for flow in PAIR
            )
            farthest = [max(map(abs, row)) for row in zip(*off, strict=True)]
            yield Value(f"{LABELS[marker]}, n={n}: |OUT share - q|", farthest)


@two.claim("others")
def with_two_of_everything(runs: Samples) -> Finding:
    """All conditioners, round trips and numbers; and yellow as a second OUT."""
    shown = ("F1", "F2", "total", "F1.DP2", "F2.DP2", "drop ratio")
    sets = {"IN": runs.of("rtt-fig4-2dp"), "OUT": runs.of("rtt-fig4-2dp-out")}
    found = [{"DP1 is": yellow, **row} for yellow, mine in sets.items() for row in rows(mine, PLACE, shown)]
    seeds = len(sets["IN"].values("F1", marker=BASIC, n=MANY, rtt=100))
    return Finding([], "Mb/s; DP2 is the share of packets", found, seeds=seeds)


@under.claim("others")
def both_contracts(runs: Samples) -> Finding:
    """Every conditioner, 6 and 9 Mb/s each."""
    shown = ("F1", "F2", "total", "drop ratio", "F1.above", "F2.above", "F1.DP0", "F2.DP0")
    found = list(rows(runs, {"cir": "CIR, Mb/s", "n": "n", "marker": "conditioner"}, shown))
    seeds = len(runs.values("F1", marker=BASIC, n=MANY, cir=6))
    return Finding([], "Mb/s; shares of packets above the target, and left as DP0", found, seeds=seeds)


def trace(runs: Samples) -> tuple[Sequence[float], Sequence[float]]:
    """s and segments of the traced flow in the first replication."""
    values = runs.all[0].values
    at = sorted(int(name.removeprefix("cwnd@")) for name in values if name.startswith("cwnd@"))
    return [t / 1000 for t in at], [values[f"cwnd@{t}"] for t in at]


@fig5.claim("trace")
def one_flow(runs: Samples) -> Finding:
    """The window of one flow."""
    windows = {LABELS[marker]: trace(runs.at(marker=marker))[1] for marker in (BASIC, SW)}
    found = [
        {
            "conditioner": label,
            "mean": stats.mean(window),
            "largest": max(window),
            "share of time at 1": sum(w < 2 for w in window) / len(window),
        }
        for label, window in windows.items()
    ]
    return Finding([], "Flow 0 of F1, first replication, segments", found, seeds=1)
