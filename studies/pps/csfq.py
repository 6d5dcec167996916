"""Fig. 12: weighted CSFQ in the place of PPS."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pps.shares import FIG4
from perhop_studies.pps.terms import SIZES, Shares, ratio
from perhop_studies.samples import Samples
from perhop_studies.verdict import Part, Value, greater

fig12 = Study("pps-fig12", title="Fig. 12: weighted CSFQ on the set-up of Fig. 4", runs=("pps-fig4", "pps-fig12"))
STUDIES = [fig12]


def weighted(runs: Samples, transport: str, size: int) -> Shares:
    """30 flows with weights 1 to 30 over CSFQ."""
    return Shares.of(runs.of("pps-fig12").at(transport=transport, size=size), FIG4)


def pps(runs: Samples, **at: Any) -> Shares:
    """The same flows with tickets, Fig. 4."""
    return Shares.of(runs.of("pps-fig4").at(**at), FIG4)


@fig12.claim("below-pps")
def csfq_is_less_in_proportion(runs: Samples, scheme: str, size: int) -> Measured:
    """CSFQ does not divide in proportion among TCP flows as well as PPS; among UDP flows it does, accurately."""
    tcp, ours = weighted(runs, "tcp", size), pps(runs, scheme=scheme, size=size)
    parts: list[Value | Part] = [greater(Value("jain(y) of PPS", ours.jain), Value("of CSFQ", tcp.jain))]
    parts += weighted(runs, "udp", size).each("UDP x/e")
    return Measured(parts, f"jain(y): PPS {stats.mean(ours.jain):.4f}, CSFQ {stats.mean(tcp.jain):.4f}.")


@fig12.claim("below-pps-amount")
def twice_the_error(runs: Samples, scheme: str, size: int) -> Measured:
    """How much less."""
    tcp, ours = weighted(runs, "tcp", size).error, pps(runs, scheme=scheme, size=size).error
    return Measured([Value("mean |y-1|, CSFQ/PPS", ratio(tcp, ours))])


@fig12.claim("udp-accurate")
def csfq_is_accurate_for_datagrams(runs: Samples) -> Measured:
    """CSFQ achieves proportional allocation for non-responsive flows with a high accuracy."""
    return Measured([Value(f"{size} B: mean |y-1| of UDP", weighted(runs, "udp", size).error) for size in SIZES])
