"""What PPS is compared with: DiffServ whose profiles do not match the link (Table IV), weighted CSFQ (Fig. 12)."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell
from perhop_studies.pps.shares import FIG4
from perhop_studies.pps.terms import SIZES, Rates, Shares, ratio, settled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Part, Value, greater

tab4 = Study(
    "pps-tab4", title="Table IV: DiffServ with profiles off the link's rate", runs=("pps-tab4", "pps-tab4-diffserv")
)
fig12 = Study("pps-fig12", title="Fig. 12: weighted CSFQ on the set-up of Fig. 4", runs=("pps-fig4", "pps-fig12"))
STUDIES = [tab4, fig12]

PROPORTIONAL: Rates = {"A": 0.6, "B": 0.4, "C": 0.2}
PUBLISHED: dict[str, Rates] = {
    "below": {"A": 0.43, "B": 0.40, "C": 0.37},
    "above": {"A": 0.42, "B": 0.43, "C": 0.35},
}


def diffserv(runs: Samples, profile: str, size: int, rio: str = "first") -> Shares:
    """The three flows under DiffServ."""
    return Shares.of(runs.of("pps-tab4-diffserv").at(profile=profile, size=size, rio=rio), PROPORTIONAL)


def pps(runs: Samples, **at: Any) -> Shares:
    """The three flows under PPS: tickets 3:2:1, whatever the profiles would be."""
    return Shares.of(runs.of("pps-tab4").at(**at), PROPORTIONAL)


@tab4.claim("diffserv-mismatched")
def diffserv_degenerates(runs: Samples, size: int) -> Measured:
    """DiffServ allocates excess bandwidth arbitrarily, and degenerates into best effort where there is too little."""
    found = {profile: diffserv(runs, profile, size) for profile in PUBLISHED}
    pairs = {
        name: (Value(f"{name}: max/min", s.spread), Value(f"{name}: jain(y)", s.jain)) for name, s in found.items()
    }
    return Measured([value for pair in pairs.values() for value in pair])


@tab4.claim("pps-mismatched")
def pps_keeps_the_proportion(runs: Samples, **at: Any) -> Measured:
    """PPS allocates in proportion to the profiles, independent of the capacity."""
    found = pps(runs, **at)
    parts = [Value("A:C", found.ratio("A", "C")), Value("A:B", found.ratio("A", "B")), Value("jain(y)", found.jain)]
    return Measured(parts, settled(runs.of("pps-tab4"), PROPORTIONAL, **at))


def weighted(runs: Samples, transport: str, size: int) -> Shares:
    """30 flows with weights 1 to 30 over CSFQ."""
    return Shares.of(runs.of("pps-fig12").at(transport=transport, size=size), FIG4)


def of_fig4(runs: Samples, **at: Any) -> Shares:
    """The same flows with tickets, Fig. 4."""
    return Shares.of(runs.of("pps-fig4").at(**at), FIG4)


@fig12.claim("below-pps")
def csfq_is_less_in_proportion(runs: Samples, scheme: str, size: int) -> Measured:
    """CSFQ does not divide in proportion among TCP flows as well as PPS; among UDP flows it does, accurately."""
    tcp, ours = weighted(runs, "tcp", size), of_fig4(runs, scheme=scheme, size=size)
    parts: list[Value | Part] = [greater(Value("jain(y) of PPS", ours.jain), Value("of CSFQ", tcp.jain))]
    parts += weighted(runs, "udp", size).each("UDP x/e")
    return Measured(parts, f"jain(y): PPS {stats.mean(ours.jain):.4f}, CSFQ {stats.mean(tcp.jain):.4f}.")


@fig12.claim("below-pps-amount")
def twice_the_error(runs: Samples, scheme: str, size: int) -> Measured:
    """How much less."""
    tcp, ours = weighted(runs, "tcp", size).error, of_fig4(runs, scheme=scheme, size=size).error
    return Measured([Value("mean |y-1|, CSFQ/PPS", ratio(tcp, ours))])


@fig12.claim("udp-accurate")
def csfq_is_accurate_for_datagrams(runs: Samples) -> Measured:
    """CSFQ achieves proportional allocation for non-responsive flows with a high accuracy."""
    return Measured([Value(f"{size} B: mean |y-1| of UDP", weighted(runs, "udp", size).error) for size in SIZES])


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A flow's rate, or the total, under the profiles that the column names."""
    found = Shares.of(runs.of("pps-tab4-diffserv").at(profile=printed.column, rio="first"), PROPORTIONAL)
    return found.total() if printed.row == "total" else found.x(printed.row)


CELLS = {"pps-tab4": cell}
