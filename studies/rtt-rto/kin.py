"""The two aggregates again: two drop precedences, a link with too little for the contracts, congestion windows."""

from __future__ import annotations

from collections.abc import Sequence
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
    STANDARD,
    STANDARD_SW,
    SW,
    at_least_times,
    means,
    ratio,
    ratios,
)
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, greater, positive

two_precedences = Study(
    "rtt-fig4-2dp", title="Fig. 4 with two drop precedences", runs=("rtt-fig4-2dp", "rtt-fig4-2dp-out")
)
under = Study("rtt-under", title="Under-provisioned link", runs="rtt-under")
fig5 = Study("rtt-fig5", title="Fig. 5: congestion windows of the short aggregate", runs="rtt-fig5")
STUDIES = [two_precedences, under, fig5]

RTTS_2DP = (20, 50, 100, 200)


def two(runs: Samples, **at: Any) -> Samples:
    """Yellow stays IN."""
    return runs.of("rtt-fig4-2dp").at(**at)


@two_precedences.claim("basic-is-biased")
def the_long_flow_gets_more(runs: Samples, rtt: int) -> Finding:
    """The basic conditioner with two drop precedences is biased when many flows are multiplexed."""
    found = two(runs, marker=BASIC, n=MANY, rtt=rtt)
    return Finding([greater(Value("F2", found.values("F2")), Value("F1", found.values("F1")))], _rates(found))


@two_precedences.claim("bias-amount")
def as_with_three(runs: Samples, rtt: int) -> Measured:
    """As much as with three."""
    found = two(runs, marker=BASIC, n=MANY, rtt=rtt)
    return Measured([Value("F2/F1", ratio(found, "F2", "F1"))], _rates(found))


def _rates(found: Samples) -> str:
    return "Mb/s: " + ", ".join(f"{name} {found.mean(name).mean:.2f}" for name in (*PAIR, "total"))


def farthest(runs: Samples) -> list[float]:
    """How far an aggregate's share of OUT is from its mean q, at most, replication by replication."""
    rows = [
        [abs(x) for x in stats.differences(runs.values(f"{flow}.q", rtt=rtt), runs.values(f"{flow}.out", rtt=rtt))]
        for rtt in RTTS_2DP
        for flow in PAIR
    ]
    return [max(row) for row in zip(*rows, strict=True)]


@two_precedences.claim("marking")
def out_by_q(runs: Samples) -> Measured:
    """Out of profile a packet is OUT with probability q: the farthest of both aggregates at all round trips."""
    return Measured(
        [
            Value(f"{LABELS[marker]}, n={n}: |OUT share - q|", farthest(two(runs, marker=marker, n=n)))
            for marker in (BASIC, RTO)
            for n in (FEW, MANY)
        ]
    )


@two_precedences.claim("others")
def with_two_of_everything(runs: Samples) -> Finding:
    """All conditioners, round trips and numbers; and yellow as a second OUT."""
    rows: list[dict[str, Any]] = []
    for name, yellow in (("rtt-fig4-2dp", "IN"), ("rtt-fig4-2dp-out", "OUT")):
        found = runs.of(name)
        grid = found.grid()
        for n in grid["n"]:
            for rtt in grid["rtt"]:
                for marker in grid["marker"]:
                    mine = found.at(n=n, rtt=rtt, marker=marker)
                    where = {"DP1 is": yellow, "n": n, "RTT of F2, ms": rtt, "conditioner": LABELS[marker]}
                    rows.append({**where, **means(mine, ("F1", "F2", "total", "F1.DP2", "F2.DP2", "drop ratio"))})
    return Finding(
        [], "Mb/s; DP2 is the share of packets", rows, seeds=len(two(runs, marker=BASIC, n=MANY, rtt=100).all)
    )


@under.claim("rtt-not-considered")
def as_the_standard_one(runs: Samples) -> Measured:
    """When the network is under-provisioned, the RTT-aware conditioner does not consider round trips."""
    basic, plain = (runs.at(marker=marker, n=FEW, cir=6) for marker in (BASIC, STANDARD))
    part = Value("F1 basic / standard", ratios(basic.values("F1"), plain.values("F1")))
    return Measured([part], _above(basic))


def _above(found: Samples) -> str:
    return "Metered above the target: " + ", ".join(f"{flow} {found.mean(f'{flow}.above').mean:.3f}" for flow in PAIR)


@under.claim("sw-works")
def no_less_with_sw(runs: Samples, n: int) -> Finding:
    """SW works for under-provisioned networks as well."""
    sw, plain = (runs.at(marker=marker, n=n, cir=6) for marker in (STANDARD_SW, STANDARD))
    gains = ratios(sw.values("total"), plain.values("total"))
    above = _above(runs.at(marker=SW, n=n, cir=6))
    return Finding([positive("total SW / standard - .99", [gain - 0.99 for gain in gains])], f"{above} under RTT-SW")


@under.claim("others")
def both_contracts(runs: Samples) -> Finding:
    """Every conditioner, 6 and 9 Mb/s each."""
    rows: list[dict[str, Any]] = []
    for cir in (6, 9):
        for n in (FEW, MANY):
            for marker, label in LABELS.items():
                found = runs.at(marker=marker, n=n, cir=cir)
                above = (
                    {f"{f} above": found.mean(f"{f}.above").mean for f in PAIR} if marker in (BASIC, RTO, SW) else {}
                )
                shares = {f"{flow} DP0": found.mean(f"{flow}.DP0").mean for flow in PAIR}
                rates = means(found, ("F1", "F2", "total", "drop ratio"))
                rows.append({"CIR, Mb/s": cir, "n": n, "conditioner": label, **rates, **above, **shares})
    return Finding([], "Mb/s; shares of packets above the target, and left as DP0", rows, seeds=len(found.all))


def windows(runs: Samples) -> tuple[Samples, Samples]:
    """Basic, and with small windows protected."""
    return runs.at(marker=BASIC), runs.at(marker=SW)


@fig5.claim("larger-windows")
def it_grows_with_sw(runs: Samples) -> Finding:
    """The congestion window remains small due to time-outs, and small-window protection overcomes this."""
    basic, sw = windows(runs)
    parts: list[Part] = [
        at_least_times(Value("mean cwnd RTT-SW", sw.values("F1.cwnd")), Value("basic", basic.values("F1.cwnd")), 1.3),
        greater(
            Value("time-outs a flow: basic", basic.values("F1.timeouts")), Value("RTT-SW", sw.values("F1.timeouts"))
        ),
    ]
    names = {"F1.cwnd": "cwnd", "F1.timeouts": "time-outs a flow"}
    told = (f"{name} {basic.mean(q).mean:.2f} and {sw.mean(q).mean:.2f}" for q, name in names.items())
    return Finding(parts, "Basic and RTT-SW: " + ", ".join(told))


def trace(runs: Samples) -> tuple[Sequence[float], Sequence[float]]:
    """s and segments of the traced flow in the first replication."""
    values = runs.all[0].values
    at = sorted(int(name.removeprefix("cwnd@")) for name in values if name.startswith("cwnd@"))
    return [t / 1000 for t in at], [values[f"cwnd@{t}"] for t in at]


@fig5.claim("trace")
def one_flow(runs: Samples) -> Finding:
    """The window of one flow."""
    rows: list[dict[str, Any]] = []
    for marker, found in zip((BASIC, SW), windows(runs), strict=True):
        _, window = trace(found)
        largest = {"mean": stats.mean(window), "largest": max(window), "share of time at 1": _at_one(window)}
        rows.append({"conditioner": LABELS[marker], **largest})
    return Finding([], "Flow 0 of F1, first replication, segments", rows, seeds=1)


def _at_one(window: Sequence[float]) -> float:
    return sum(w < 2 for w in window) / len(window)
