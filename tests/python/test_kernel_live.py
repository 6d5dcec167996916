"""The simulator beside `perhop forward` under real TCP, as the lab recorded it, and the page that says so."""

from __future__ import annotations

import os

import pytest

import passed
import reality
import reality_page
from passed import Passed
from reality import LIVE, SIMULATOR
from reality_page import OUTSIDE, UNDECIDED, WITHIN, Sample

CELLS = list(reality.all_cells())
#: A run that is made again here: the record of the simulator must be what perhop does today.
AGAIN = [it for it in CELLS if it.law == "cubic"]


@pytest.mark.parametrize("cell", AGAIN, ids=lambda it: it.name)
def test_the_simulator_does_what_is_recorded(cell: reality.Cell) -> None:
    rows = reality.have()
    for source, its in reality.simulator(cell, 1).items():
        recorded = rows[cell.name, cell.law, SIMULATOR, "1", source]
        told = {k: f"{v:.6g}" for k, v in its._asdict().items()}
        assert told == {k: recorded[k] for k in its._fields}, "lab/recording/reality.py --again simulator records it"


def test_every_cell_is_recorded_in_both_worlds() -> None:
    found = {(it.cell.name, it.cell.law) for it in reality_page.lines()}
    assert found == {(it.name, it.law) for it in CELLS}


def test_no_share_is_outside_the_margin_without_a_reason() -> None:
    found = reality_page.lines()
    outside = [it for it in found if it.verdict == OUTSIDE and not it.explained]
    assert not outside, [f"{it.cell.name}/{it.cell.law} {it.source}: {it.ratio:.3f}" for it in outside]
    assert sum(it.verdict == WITHIN for it in found) >= 0.8 * len(found)


def test_the_page_is_what_the_records_say() -> None:
    if os.environ.get("PERHOP_RENEW"):
        reality_page.main()
    assert reality_page.PAGE.read_text(encoding="utf-8") == reality_page.text(reality_page.lines())


@pytest.mark.parametrize(
    ("live", "verdict"),
    [
        ([0.40, 0.40, 0.40], WITHIN),
        ([0.41, 0.42, 0.42], WITHIN),
        ([0.44, 0.45, 0.46], OUTSIDE),
        ([0.30, 0.31, 0.30], OUTSIDE),
        ([0.30, 0.50, 0.56], UNDECIDED),
        ([0.46], UNDECIDED),
    ],
)
def test_a_share_that_is_off_is_outside(live: list[float], verdict: str) -> None:
    line = reality_page.lines()[0]
    worlds = {SIMULATOR: {"share": Sample([0.39, 0.40, 0.40, 0.41])}, LIVE: {"share": Sample(live)}}
    assert line._replace(worlds=worlds).verdict == verdict


def test_figures_are_of_what_came_after_the_warm_up() -> None:
    """Two packets of a class wait 3 ms each in a second; one of them is marked, one dropped, and one came too early."""
    ms = 1_000_000
    packets = [
        Passed("A", 1000 * ms, 1003 * ms, 1000, 43),
        Passed("A", 1100 * ms, 1103 * ms, 1000, 56),
        Passed("A", 1200 * ms, None, 1000, 0),
        Passed("A", 900 * ms, 990 * ms, 1000, 40),
        Passed("B", 1500 * ms, 1500 * ms, 2000, 0),
    ]
    found = passed.figures(packets, 1000 * ms, 2000 * ms)
    assert found["A"] == pytest.approx((0.016, 0.5, 1 / 3, 0.5, 3.0, 0.006, 0.5))
    assert found["B"] == pytest.approx((0.016, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0))
