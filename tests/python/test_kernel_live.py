"""The simulator beside `perhop forward` under real TCP, as the lab recorded it, and the page that says so."""

from __future__ import annotations

import os

import pytest

import passed
import reality
import reality_page
from passed import Passed
from reality import LIVE, SIMULATOR

CELLS = list(reality.all_cells())
#: A run that is made again here: the record of the simulator must be what perhop does today.
AGAIN = [it for it in CELLS if it.law == "cubic"]


@pytest.mark.parametrize("cell", AGAIN, ids=lambda it: it.name)
def test_the_simulator_does_what_is_recorded(cell: reality.Cell) -> None:
    rows = reality.have()
    for source, its in reality.simulator(cell, 1).items():
        recorded = rows[cell.name, cell.law, SIMULATOR, "1", source]
        assert {k: f"{v:.6g}" for k, v in its._asdict().items()} == {k: recorded[k] for k in its._fields}


def test_every_share_is_within_the_margin_or_explained() -> None:
    found = reality_page.lines()
    assert len({it.cell.name for it in found}) >= 1
    wrong = [
        f"{it.cell.name}/{it.cell.law} {it.source}: {it.ratio:.3f}" for it in found if not it.good and not it.explained
    ]
    assert not wrong, wrong


def test_the_page_is_what_the_records_say() -> None:
    if os.environ.get("PERHOP_RENEW"):
        reality_page.main()
    assert reality_page.PAGE.read_text(encoding="utf-8") == reality_page.text(reality_page.lines())


def test_a_share_that_is_off_is_outside() -> None:
    line = reality_page.lines()[0]
    live = line.worlds[LIVE]
    for factor, good in ((1.04, True), (1.06, False), (0.94, False)):
        sample = reality_page.Sample([factor * line.worlds[SIMULATOR]["share"].mean])
        changed = line._replace(worlds={**line.worlds, LIVE: {**live, "share": sample}})
        assert changed.good == good


def test_figures_are_of_what_came_after_the_warm_up() -> None:
    """Two packets of a class wait 3 ms each in a second of counting; one is dropped, and one came too early."""
    ms = 1_000_000
    packets = [
        Passed("A", 1000 * ms, 1003 * ms, 1000, 40),
        Passed("A", 1100 * ms, 1103 * ms, 1000, 56),
        Passed("A", 1200 * ms, None, 1000, 0),
        Passed("A", 900 * ms, 990 * ms, 1000, 40),
        Passed("B", 1500 * ms, 1500 * ms, 2000, 0),
    ]
    found = passed.figures(packets, 1000 * ms, 2000 * ms)
    assert found["A"] == pytest.approx((0.016, 0.5, 1 / 3, 0.5, 3.0, 0.006))
    assert found["B"] == pytest.approx((0.016, 0.5, 0.0, 0.0, 0.0, 0.0))
