"""perhop's TCP beside what the kernel's was recorded to do, and the page that says so."""

from __future__ import annotations

import os

import pytest

import page
import transport
from perhop.kernel.transport import recorded

CELLS = list(transport.all_cells())
#: Groups that have to stay inside: so many of ten cells.
KEPT = {"drop-tail": 9, "shaper": 9, "aqm": 9}


def test_there_are_enough_cells_and_each_is_a_scenario() -> None:
    assert len({cell.name for cell in CELLS}) == len(CELLS) >= 150
    assert {cell.scenario.name for cell in CELLS} == {file.name for file in transport.FOLDER.glob("*.toml")}


def test_every_cell_is_recorded_as_often_as_it_says() -> None:
    records = transport.recorded()
    assert set(records) <= {cell.name for cell in CELLS}
    assert all(len(records[cell.name]) == cell.boots for cell in CELLS if cell.name in records)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if transport.windows(cell.name)], ids=lambda cell: cell.name)
def test_a_trace_is_that_of_its_connections(cell: transport.Cell) -> None:
    windows = transport.windows(cell.name)
    assert windows is not None
    assert len(windows) == len(transport.recorded()[cell.name][0].senders) <= transport.TRACED
    assert min(map(min, windows)) >= 1


def test_the_page_is_what_the_records_and_perhop_say() -> None:
    found = page.verdicts()
    text = page.text(found)
    if os.environ.get("PERHOP_RENEW"):
        page.main()
    assert page.PAGE.read_text(encoding="utf-8") == text, "PERHOP_RENEW=1 writes it again"
    for group, of_ten in KEPT.items():
        own = [it.good for it in found if it.cell.group == group]
        assert 10 * sum(own) >= of_ten * len(own), group


def test_what_the_lab_writes_is_read() -> None:
    look = {"ns": 0, "queues": {"r -> d": [3, 4500]}, "senders": [[10, 99, 40_000, 39_000, 0]]}
    later = look | {"ns": 10**9, "queues": {"r -> d": [5, 7500]}}
    one = {"traffic": "bulk", "flow": 0, "received": 1_250_000, "retransmitted": 7}
    world = recorded({"connections": [one], "looks": [look, later]}, 1.0, 2.0)
    assert (world.goodput_bit_s(), world.retransmitted(), world.shares()) == (10_000_000, 7, [1.0])
    assert (world.senders[0].cwnd, world.senders[0].srtt_ms) == ([10, 10], [40, 40])
    assert world.queues["r -> d"] == (5, 5)
