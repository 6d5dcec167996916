"""Tables I and II: flows whose bottlenecks differ, and routers with several outputs."""

from __future__ import annotations

from functools import partial

from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell
from perhop_studies.pps.terms import SCHEMES, Rates, Shares, mbit, ratio, settled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Value

tab1 = Study("pps-tab1", title="Table I: A, C and D share a bottleneck", runs="pps-tab1")
tab2 = Study("pps-tab2", title="Table II: A and B share one, C and D another", runs="pps-tab2")
STUDIES = [tab1, tab2]

EXPECTED: dict[str, Rates] = {
    "pps-tab1": {"A": 0.6, "B": 0.6, "C": 0.2, "D": 0.1},
    "pps-tab2": {"A": 0.8, "B": 0.4, "C": 2 / 3, "D": 1 / 3},
}
PUBLISHED: dict[tuple[str, str], Rates] = {
    ("pps-tab1", "sender"): {"A": 0.56, "B": 0.64, "C": 0.23, "D": 0.11},
    ("pps-tab1", "receiver"): {"A": 0.55, "B": 0.65, "C": 0.23, "D": 0.12},
    ("pps-tab2", "sender"): {"A": 0.74, "B": 0.45, "C": 0.69, "D": 0.36},
    ("pps-tab2", "receiver"): {"A": 0.74, "B": 0.45, "C": 0.68, "D": 0.37},
}


def errors_and_schemes(study: str, runs: Samples, scheme: str, size: int) -> Measured:
    """Measured rates are near the expected ones, in both schemes, and the first bottleneck is full."""
    found, expected = runs.at(size=size), EXPECTED[study]
    by = {name: Shares.of(found.at(scheme=name), expected) for name in SCHEMES}
    mine = by[scheme]
    parts = [*mine.each(), Value("mean |x/e-1|", mine.error), Value("A+B", mine.total("A", "B"))]
    parts += [Value(f"{f}: sender/receiver", ratio(by["sender"].x(f), by["receiver"].x(f))) for f in expected]
    return Measured(parts, settled(found.at(scheme=scheme), expected))


def as_published(study: str, runs: Samples, scheme: str, size: int) -> Measured:
    """The printed rates."""
    return Measured(Shares.of(runs.at(scheme=scheme, size=size), PUBLISHED[study, scheme]).each("x/published"))


for _study in STUDIES:
    _study.claim("errors-and-schemes")(partial(errors_and_schemes, _study.id))
    _study.claim("as-published")(partial(as_published, _study.id))


def cell(runs: Samples, printed: Cell) -> list[float]:
    """Rate of a flow (row) in a scheme (column)."""
    return mbit(runs.values(f"{printed.row}.throughput", scheme=printed.column))


CELLS = {study.id: cell for study in STUDIES}
