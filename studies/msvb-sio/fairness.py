"""Fig. 3 and 4: who gets how much of the link, by round-trip time and with unresponsive sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.msvb_sio.terms import CLASSES, LOOKS, Division, percent
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value, difference

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


def _jain(found: Mapping[str, Division], scheme: str) -> Value:
    return Value(_index(scheme), found[scheme].jain)


def _fairer(found: Mapping[str, Division], pairs: Iterable[tuple[str, str]]) -> Iterator[Value]:
    return (difference(_jain(found, a), _jain(found, b)) for a, b in pairs)


MITIGATED = ("rio", "fred", "sio")


@fig3.measures
def bias_by_round_trip(runs: Samples) -> Iterator[Value]:
    """MSVB has none; RED and SVB favour short round trips; RIO, SIO and FRED mitigate it, SIO slightly more."""
    found = {scheme: by_round_trip(runs, scheme) for scheme in LOOKS}
    yield from (_jain(found, scheme) for scheme in LOOKS)
    yield from found["msvb"].each()
    yield from _fairer(found, [(scheme, "red") for scheme in MITIGATED])
    yield from _fairer(found, [("msvb", scheme) for scheme in MITIGATED])
    yield from _fairer(found, [("sio", "rio"), ("sio", "fred")])


@fig4.measures
def tcp_beside_udp(runs: Samples) -> Iterator[Value]:
    """Even in MSVB; in RED and SVB UDP takes most and TCP starves; RIO and SIO leave UDP slightly more than TCP."""
    found = {scheme: beside_udp(runs, scheme) for scheme in LOOKS}
    for scheme, mine in found.items():
        label, tcp = LOOKS[scheme].label, [x / len(TCP) for x in mine.total(TCP)]
        yield _jain(found, scheme)
        yield Value(f"{label}: TCP, %", percent(mine.total(TCP)))
        yield Value(f"{label}: Spearman(rate, share)", _ranked(mine))
        for name in UDP:
            more = [100 * (a - b) for a, b in zip(mine.part(name), tcp, strict=True)]
            yield Value(f"{label}: {name} - mean TCP class, %", more)
    yield from found["msvb"].each()


def _ranked(found: Division) -> list[float]:
    shares = zip(*(found.part(name) for name in UDP), strict=True)
    return [round(measures.spearman(OFFERED[15], row), 12) for row in shares]


@fig4.claim("fred")
def fred_too(runs: Samples) -> Measured:
    """So it is in FRED, for those UDP sources that send more than their share."""
    found = {scheme: beside_udp(runs, scheme) for scheme in ("red", "fred", "msvb")}
    shares = [Value(f"{name}, %", percent(found["fred"].part(name))) for name in UDP[1:]]
    return Measured([*_fairer(found, [("fred", "red"), ("msvb", "fred")]), *shares])


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
