"""Table IV: DiffServ whose profiles do not match the link, and PPS."""

from __future__ import annotations

from typing import Any

from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell
from perhop_studies.pps.terms import Rates, Shares, settled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Value

tab4 = Study(
    "pps-tab4", title="Table IV: DiffServ with profiles off the link's rate", runs=("pps-tab4", "pps-tab4-diffserv")
)
STUDIES = [tab4]

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


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A flow's rate, or the total, under the profiles that the column names."""
    found = Shares.of(runs.of("pps-tab4-diffserv").at(profile=printed.column, rio="first"), PROPORTIONAL)
    return found.total() if printed.row == "total" else found.x(printed.row)


CELLS = {"pps-tab4": cell}
