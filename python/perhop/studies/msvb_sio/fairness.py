"""Fig. 3 and 4: who gets how much of the link, by round-trip time and with unresponsive sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop import stats
from perhop.studies import Study
from perhop.studies.bounds import Measured
from perhop.studies.msvb_sio.terms import CLASSES, LOOKS, Division, percent
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding, Part, Value, greater

fig3 = Study("msvb-fig3", title="Fig. 3: round-trip times", runs="msvb-fig3")
fig4 = Study("msvb-fig4", title="Fig. 4: unresponsive flows", runs="msvb-fig4")
STUDIES = [fig3, fig4]

TCP, UDP = CLASSES[:5], CLASSES[5:]
OFFERED = {15: (1, 2, 3, 4, 5), 25: (1, 3, 5, 7, 9), 30: (2, 4, 6, 8, 10)}
"""What the UDP sources of classes 6 to 10 send, by their sum, Mbit/s."""


def by_round_trip(runs: Samples, scheme: str) -> Division:
    """How a queue divides the link among classes with different round-trip times."""
    return Division.of(runs.at(scheme=scheme))


def beside_udp(runs: Samples, scheme: str, rates: int = 15) -> Division:
    """How a queue divides the link under TCP and UDP that sends this many Mbit/s in total."""
    return Division.of(runs.at(scheme=scheme, rates=rates))


def _index(scheme: str) -> str:
    return f"jain {LOOKS[scheme].label}"


def _even(found: Division) -> Measured:
    return Measured([Value(_index("msvb"), found.jain), *found.each()])


def _above(found: Mapping[str, Division], a: str, b: str) -> Part:
    return greater(Value(_index(a), found[a].jain), Value(_index(b), found[b].jain))


@fig3.claim("msvb-fair")
def no_bias_by_round_trip(runs: Samples) -> Measured:
    """In MSVB there is no bias against long round trips: each class has a tenth."""
    return _even(by_round_trip(runs, "msvb"))


@fig3.claim("red-and-svb-unfair")
def short_round_trips_are_favoured(runs: Samples) -> Measured:
    """RED and SVB favour connections with short round trips."""
    return Measured([Value(_index(s), by_round_trip(runs, s).jain) for s in ("red", "svb")])


MITIGATED = ("rio", "fred", "sio")


@fig3.claim("others-between")
def the_bias_is_mitigated(runs: Samples) -> Finding:
    """In RIO, SIO and FRED the bias is mitigated, though not corrected."""
    found = {scheme: by_round_trip(runs, scheme) for scheme in ("red", *MITIGATED, "msvb")}
    parts = [_above(found, s, "red") for s in MITIGATED]
    return Finding([*parts, *(_above(found, "msvb", s) for s in MITIGATED)])


@fig3.claim("sio-above-rio-and-fred")
def sio_is_slightly_fairer(runs: Samples) -> Finding:
    """SIO's index is slightly larger than those of RIO and FRED."""
    found = {scheme: by_round_trip(runs, scheme) for scheme in ("sio", "rio", "fred")}
    return Finding([_above(found, "sio", scheme) for scheme in ("rio", "fred")])


@fig4.claim("msvb-fair")
def bandwidth_is_almost_even(runs: Samples) -> Measured:
    """In MSVB the bandwidth is almost evenly distributed among all classes."""
    return _even(beside_udp(runs, "msvb"))


@fig4.claim("red-and-svb-starve-tcp")
def udp_takes_most(runs: Samples) -> Measured:
    """In RED and SVB UDP takes most of the bandwidth, each source by its rate, and TCP starves."""
    parts = []
    for scheme in ("red", "svb"):
        found, label = beside_udp(runs, scheme), LOOKS[scheme].label
        parts.append(Value(f"{label}: TCP, %", percent(found.total(TCP))))
        parts.append(Value(f"{label}: Spearman(rate, share)", _ranked(found)))
    return Measured(parts)


def _ranked(found: Division) -> list[float]:
    shares = zip(*(found.part(name) for name in UDP), strict=True)
    return [round(stats.spearman(OFFERED[15], row), 12) for row in shares]


@fig4.claim("rio-and-sio")
def udp_gets_slightly_more(runs: Samples) -> Measured:
    """In RIO and SIO TCP is much improved, but UDP still gets slightly more than its fair share."""
    values = []
    for scheme in ("rio", "sio"):
        found, label = beside_udp(runs, scheme), LOOKS[scheme].label
        tcp = [x / len(TCP) for x in found.total(TCP)]
        values.append(Value(_index(scheme), found.jain))
        for name in UDP:
            more = [100 * (a - b) for a, b in zip(found.part(name), tcp, strict=True)]
            values.append(Value(f"{label}: {name} - mean TCP class, %", more))
    return Measured(values)


@fig4.claim("fred")
def fred_too(runs: Samples) -> Measured:
    """So it is in FRED, for those UDP sources that send more than their share."""
    found = {scheme: beside_udp(runs, scheme) for scheme in ("red", "fred", "msvb")}
    between = [_above(found, "fred", "red")]
    between.append(_above(found, "msvb", "fred"))
    return Measured([*between, *(Value(f"{name}, %", percent(found["fred"].part(name))) for name in UDP[1:])])


@fig4.claim("fred-class-6-and-other-rates")
def every_class_under_every_rate(runs: Samples) -> Finding:
    """Parts of the link for the three readings of the sources' rates."""
    rows: list[dict[str, Any]] = []
    for scheme, look in LOOKS.items():
        for rates in OFFERED:
            found = beside_udp(runs, scheme, rates)
            parts = {name: share.mean for name, share in zip(CLASSES, found.intervals(), strict=True)}
            rows.append({"scheme": look.label, "UDP, Mbit/s": rates, "jain": stats.mean(found.jain), **parts})
    return Finding([], "% of the link.", rows, seeds=len(beside_udp(runs, "msvb").rows))
