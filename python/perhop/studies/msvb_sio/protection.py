"""Table 1: what RIO and SIO let through of IN and of OUT, by the size of the profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perhop import stats
from perhop.studies import Study
from perhop.studies.criteria import Cell
from perhop.studies.msvb_sio.terms import LINK, percent
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding, Part, at_most, greater, within

table1 = Study("sio-table1", title="Table 1: protecting in-profile packets", runs="sio-table1")
STUDIES = [table1]

CIRS = {250: ".25", 500: ".5", 1000: "1.0", 2000: "2.0"}
"""Of each class, kbit/s, as the table heads its columns."""
SETS = ("P1", "P2")
RATES = (15, 25, 30)
"""Sum of what the UDP sources send, Mbit/s: i - 5, 2(i - 5) - 1 and 2(i - 5) of class i."""

Column = dict[int, float]
PUBLISHED: dict[tuple[str, str], Column] = {
    ("In-Tp", "rio"): {250: 25, 500: 49, 1000: 94, 2000: 100},
    ("In-Tp", "sio"): {250: 25, 500: 50, 1000: 96, 2000: 100},
    ("Out-Dp", "rio"): {250: 68.2, 500: 75.2, 1000: 94.2, 2000: 99.9},
    ("Out-Dp", "sio"): {250: 48.6, 500: 61.9, 1000: 95.8, 2000: 99.9},
    ("Avg queue", "sio"): {250: 39.6, 500: 52.9},
}
RIO_QUEUE: Column = {250: 40, 500: 40, 1000: 42, 2000: 80}
"""As the criterion rounds it."""

ROWS: dict[str, Callable[[Samples], list[float]]] = {
    "In-Tp": lambda runs: [100 * rate / LINK for rate in runs.values("in.rate")],
    "In-Dp": lambda runs: percent(runs.values("in.drops")),
    "Out-Dp": lambda runs: percent(runs.values("out.drops")),
    "Avg queue": lambda runs: runs.values("queue"),
}
"""The table's rows: % of the link, %, %, packets."""


def found(runs: Samples, row: str, **at: Any) -> list[float]:
    """A row of the table for one scheme (`rio`, `P1` or `P2`) and CIR; UDP sends 15 Mbit/s unless stated."""
    return ROWS[row](runs.at(**{"rates": 15, **at}))


def _near(runs: Samples, row: str, scheme: str, tolerance: float, cirs: Column) -> list[Part]:
    return [
        within(f"CIR {CIRS[cir]}: {row}", found(runs, row, scheme=scheme, cir=cir), (p - tolerance, p + tolerance))
        for cir, p in cirs.items()
    ]


def _kept(runs: Samples, scheme: str, bound: float) -> Finding:
    cirs = (250, 500, 1000)
    return Finding([at_most(f"CIR {CIRS[c]}: In-Dp", found(runs, "In-Dp", scheme=scheme, cir=c), bound) for c in cirs])


@table1.claim("in-tp-rio")
def rio_lets_in_through(runs: Samples) -> Finding:
    """In-Tp of RIO."""
    return Finding(_near(runs, "In-Tp", "rio", 3.0, PUBLISHED["In-Tp", "rio"]))


@table1.claim("in-tp-sio")
def sio_lets_in_through(runs: Samples, **at: str) -> Finding:
    """In-Tp of SIO."""
    return Finding(_near(runs, "In-Tp", at["set"], 3.0, PUBLISHED["In-Tp", "sio"]))


@table1.claim("in-dp-rio")
def rio_drops_next_to_no_in(runs: Samples) -> Finding:
    """Almost no IN packets are lost where profiles are within the link's rate."""
    return _kept(runs, "rio", 0.2)


@table1.claim("in-dp-sio")
def sio_drops_no_in(runs: Samples, **at: str) -> Finding:
    """Nor by SIO."""
    return _kept(runs, at["set"], 0.03)


@table1.claim("in-dp-cir2-rio")
def rio_drops_in_beyond_the_link(runs: Samples) -> Finding:
    """Profiles of twice the link's rate: IN is lost."""
    return Finding([within("CIR 2.0: In-Dp", found(runs, "In-Dp", scheme="rio", cir=2000), (10.0, 25.0))])


@table1.claim("in-dp-cir2-sio")
def sio_drops_less(runs: Samples, **at: str) -> Finding:
    """And by SIO less of it."""
    sio, rio = (found(runs, "In-Dp", scheme=scheme, cir=2000) for scheme in (at["set"], "rio"))
    return Finding([within("CIR 2.0: In-Dp", sio, (10.0, 25.0)), greater(("RIO", "SIO"), rio, sio)])


@table1.claim("queue-cir2")
def the_queue_is_reduced_significantly(runs: Samples, **at: str) -> Finding:
    """RIO's queue is at its maximum threshold for IN; in SIO it is reduced significantly."""
    sio, rio = (found(runs, "Avg queue", scheme=scheme, cir=2000) for scheme in (at["set"], "rio"))
    return Finding([at_most("CIR 2.0: queue SIO/RIO", [a / b for a, b in zip(sio, rio, strict=True)], 0.5)])


@table1.claim("queue-cir2-amount")
def the_queue_is_short(runs: Samples, **at: str) -> Finding:
    """12.8 packets."""
    return Finding([at_most("CIR 2.0: queue", found(runs, "Avg queue", scheme=at["set"], cir=2000), 20.0)])


@table1.claim("out-dp-sio")
def sio_drops_out_as_published(runs: Samples, **at: str) -> Finding:
    """Out-Dp of SIO."""
    return Finding(_near(runs, "Out-Dp", at["set"], 4.0, PUBLISHED["Out-Dp", "sio"]))


@table1.claim("out-dp-rio")
def rio_drops_out_as_published(runs: Samples) -> Finding:
    """Out-Dp of RIO; at the smaller profiles only sources of 25 Mbit/s give the printed figures."""
    published = PUBLISHED["Out-Dp", "rio"]
    parts = []
    for cir, printed in published.items():
        rates = 15 if cir >= 1000 else 25
        values = found(runs, "Out-Dp", scheme="rio", cir=cir, rates=rates)
        parts.append(within(f"CIR {CIRS[cir]}, UDP {rates}: Out-Dp", values, (printed - 4, printed + 4)))
    return Finding(parts)


@table1.claim("out-dp-other-rates")
def every_cell_under_every_rate(runs: Samples) -> Finding:
    """All rows of the table for the three readings of the sources' rates."""
    rows: list[dict[str, Any]] = []
    for scheme in ("rio", *SETS):
        for rates in RATES:
            for cir, name in CIRS.items():
                means = {row: stats.mean(found(runs, row, scheme=scheme, cir=cir, rates=rates)) for row in ROWS}
                rows.append({"scheme": scheme, "UDP, Mbit/s": rates, "CIR": name, **means})
    return Finding([], "", rows, seeds=len(found(runs, "Out-Dp", scheme="rio", cir=250)))


@table1.claim("queue-rio")
def rio_queue_as_published(runs: Samples) -> Finding:
    """Average queue of RIO."""
    return Finding(_near(runs, "Avg queue", "rio", 3.0, RIO_QUEUE))


@table1.claim("queue-sio")
def sio_queue_as_published(runs: Samples, **at: str) -> Finding:
    """Average queue of SIO while IN leaves room."""
    return Finding(_near(runs, "Avg queue", at["set"], 6.0, PUBLISHED["Avg queue", "sio"]))


@table1.claim("queue-sio-cir1")
def sio_queue_below_rios(runs: Samples, **at: str) -> Finding:
    """At the link's rate SIO's queue is below RIO's."""
    sio, rio = (found(runs, "Avg queue", scheme=scheme, cir=1000) for scheme in (at["set"], "rio"))
    return Finding([within("CIR 1.0: queue", sio, (15.0, 45.0)), greater(("RIO", "SIO"), rio, sio)])


def cell(runs: Samples, printed: Cell) -> list[float]:
    """A printed cell; SIO's under P1."""
    scheme, cir = printed.column.split()
    of = {"RIO": "rio", "SIO": SETS[0]}[scheme]
    return found(runs, printed.row, scheme=of, cir=next(c for c, name in CIRS.items() if name == cir))


CELLS = {"sio-table1": cell}
