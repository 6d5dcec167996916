"""Beyond the paper: ECN, tickets by the byte, logarithmic tags; datagram sources are in `claims.toml`. Never judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.drawing import MUTED, REFERENCE, Look
from perhop_studies.pps.shares import CHAIN, FIG4
from perhop_studies.pps.terms import SCHEMES, SIZES, Rates, Shares, mbit, ratio
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, number

udp = Study(
    "pps-udp",
    title="Beyond the paper: a datagram source and TCP",
    runs=("beyond-udp", "beyond-udp-input", "beyond-udp-currency"),
)
untagged = Study(
    "pps-untagged",
    title="Beyond the paper: a datagram source that does not tag",
    runs=("beyond-untagged", "beyond-untagged-input"),
)
ecn = Study("pps-ecn", title="Beyond the paper: ECN in the place of drops", runs=("pps-fig4", "beyond-ecn"))
by_bytes = Study("pps-bytes", title="Beyond the paper: tickets by the byte", runs="beyond-bytes")
log = Study("pps-log", title="Beyond the paper: logarithmic tags", runs=("beyond-log", "beyond-log-chain"))
STUDIES = [udp, untagged, ecn, by_bytes, log]

SEGMENTS = {256: ("f1", "f2", "f3"), 512: ("f4", "f5", "f6"), 1024: ("f7", "f8", "f9"), 1460: ("f10", "f11", "f12")}
"""Flows by the payload of their packets, bytes."""
HEADER = 40
UNITS = {
    "red": Look("RED", MUTED, "^", ":"),
    "packets": Look("by packets", "#0072b2"),
    "bytes": Look("by bytes", "#c2410c", "s"),
}
TAGS = {
    "linear": Look("linear, 8 bits", "#c2410c", "^"),
    "log-nearest": Look("log, 8 bits, nearest", "#0072b2"),
    "log-stochastic": Look("log, 8 bits, stochastic", REFERENCE, "s"),
    "real": Look("real", "#12633b", "D"),
}
EXCHANGES = (1, 100)
DECADES: Rates = {f"f{i + 1}": 10 * 10**i / 11111 for i in range(5)}
"""Flows of 1 to 10^4 tickets/s on 10 Mbit/s."""


def got(runs: Samples, flow: str, **at: Any) -> list[float]:
    """What reaches the sink of one source, Mbit/s."""
    return mbit(runs.values(f"{flow}.throughput", **at))


def signalled(runs: Samples, signal: str, **at: Any) -> Samples:
    """Fig. 4 with drops, as published, or with ECN."""
    return runs.of("pps-fig4").at(**at) if signal == "drops" else runs.of("beyond-ecn").at(signal=signal, **at)


SIGNALS = ("drops", "ecn")


def repeated(runs: Samples) -> list[float]:
    """Share of the segments that were sent again."""
    return ratio(runs.values("retransmitted"), runs.values("segments"))


def _signal_row(runs: Samples) -> dict[str, float]:
    shares = Shares.of(runs, FIG4)
    goodput = Shares.of(runs, FIG4, "goodput").total()
    values: Mapping[str, list[float]] = {
        "jain(y)": shares.jain,
        "mean |y-1|": shares.error,
        "goodput, Mbit/s": goodput,
        "utilisation": runs.values("P - Q.utilisation"),
        "sent again, %": [100 * v for v in repeated(runs)],
        "time-outs": runs.values("timeouts"),
        "marked, %": [100 * v for v in runs.values("P - Q.marks")],
        "dropped, %": [100 * v for v in runs.values("P - Q.drops")],
        "of it forced, %": [100 * v for v in runs.values("P - Q.forced")],
        "queue, packets": runs.values("P - Q.queue"),
    }
    return {name: stats.mean(found) for name, found in values.items()}


def _change(before: Samples, after: Samples, rates: Rates, quantity: str = "late") -> str:
    """By how much jain(y) differs, within replications."""
    without, changed = (Shares.of(runs, rates, quantity).jain for runs in (before, after))
    found = stats.paired(without, changed)
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"


@ecn.claim("marks")
def marks_spare_repeats_and_lengthen_the_queue(runs: Samples) -> Finding:
    """Nearly nothing is sent again; the queue is longer, and proportion loses a little."""
    rows: list[dict[str, Any]] = []
    notes = []
    for scheme in SCHEMES:
        for size in SIZES:
            both = {s: signalled(runs, s, scheme=scheme, size=size) for s in SIGNALS}
            rows += [{"scheme": scheme, "B": size, "signal": s, **_signal_row(found)} for s, found in both.items()]
            notes.append(f"{scheme} {size} {_change(both['drops'], both['ecn'], FIG4, 'throughput')}")
    return Finding([], "jain(y), ECN - drops: " + "; ".join(notes) + ".", rows, seeds=len(repeated(both["ecn"])))


def rates_by_size(runs: Samples, unit: str, payload: int) -> list[float]:
    """Mean rate of the flows of one packet size, Mbit/s."""
    columns = [got(runs, flow, by=unit) for flow in SEGMENTS[payload]]
    return [stats.mean(row) for row in zip(*columns, strict=True)]


def packets(mbits: Iterable[float], payload: int) -> list[float]:
    """The same in packets/s."""
    return [1e6 * x / (8 * (payload + HEADER)) for x in mbits]


def jain_by(runs: Samples, unit: str) -> tuple[list[float], list[float]]:
    """Jain's index over the flows' packet rates and over their byte rates, by replication."""
    sizes = {flow: payload for payload, flows in SEGMENTS.items() for flow in flows}
    bits = [got(runs, flow, by=unit) for flow in sizes]
    count = [packets(x, payload) for x, payload in zip(bits, sizes.values(), strict=True)]
    by_packets, by_size = ([measures.jain(row) for row in zip(*columns, strict=True)] for columns in (count, bits))
    return by_packets, by_size


@by_bytes.claim("units")
def equal_tickets_equal_bytes(runs: Samples) -> Finding:
    """By packets equal tickets are equal packet rates, by bytes equal byte rates."""
    rows: list[dict[str, Any]] = []
    for unit, look in UNITS.items():
        in_packets, in_bytes = jain_by(runs, unit)
        rates = {f"{p} B, kbit/s": 1e3 * stats.mean(rates_by_size(runs, unit, p)) for p in SEGMENTS}
        indices = {"jain of packets/s": stats.mean(in_packets), "jain of bytes/s": stats.mean(in_bytes)}
        full = stats.mean(runs.values("P - Q.utilisation", by=unit))
        rows.append({"tickets": look.label, **indices, **rates, "utilisation": full})
    return Finding([], "Rates of each flow, headers included.", rows, seeds=len(in_bytes))


def _tag_row(runs: Samples, rates: Rates) -> dict[str, float]:
    late = Shares.of(runs, rates, "late")
    ys = [stats.mean(late.y(flow)) for flow in rates]
    tagged = runs.values("tagged")
    return {
        "jain(y)": stats.mean(Shares.of(runs, rates).jain),
        "jain(y), 20-200 s": stats.mean(late.jain),
        "least y": min(ys),
        "most y": max(ys),
        "saturated, %": 100 * stats.mean(ratio(runs.values("saturated"), tagged)),
        "raised to 1, %": 100 * stats.mean(ratio(runs.values("raised"), tagged)),
    }


def _tags(runs: Samples, rates: Rates) -> Finding:
    usual = runs.at(tags="linear", exchange=1)
    rows: list[dict[str, Any]] = []
    notes = []
    for exchange in EXCHANGES:
        for tags, look in TAGS.items():
            found, where = runs.at(tags=tags, exchange=exchange), f"x {exchange}, / {exchange}"
            rows.append({"exchange": where, "tags": look.label, **_tag_row(found, rates)})
            if rows[1:]:
                notes.append(f"{look.label} ({where}) {_change(usual, found, rates)}")
    note = "Least and most y: means over the seeds, 20-200 s. jain(y), 20-200 s, against linear at 1: "
    return Finding([], note + "; ".join(notes) + ".", rows, seeds=len(usual.values("tagged")))


@log.claim("chain")
def no_tag_saturates(runs: Samples) -> Finding:
    """Logarithmic tags of 8 bits survive an exchange rate of 100, linear ones do not."""
    return _tags(runs.of("beyond-log-chain"), CHAIN)


@log.claim("decades")
def over_four_decades(runs: Samples) -> Finding:
    """So they do where tickets lie four decades apart."""
    return _tags(runs.of("beyond-log"), DECADES)
