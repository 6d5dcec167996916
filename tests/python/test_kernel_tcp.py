"""perhop's TCP beside what the kernel's was recorded to do, and the page that says so."""

from __future__ import annotations

import os
import tomllib

import pytest

import beside
import page
import transport
from cells import STATED
from perhop_lab.worlds import Queue, Sender, World, recorded

CELLS = list(transport.all_cells())
#: Groups that have to stay inside: so many of ten cells.
GROUPS = ("policer", "shaper", "drop-tail", "aqm", "uplink", "dctcp", "loss", "many", "rate", "offload", "fq")
KEPT = dict.fromkeys(GROUPS, 9)


def test_there_are_enough_cells_and_each_is_a_scenario() -> None:
    assert len({cell.name for cell in CELLS}) == len(CELLS) >= 150
    assert {cell.scenario.name for cell in CELLS} == {file.name for file in transport.SCENARIOS.glob("*.toml")}


def test_every_cell_is_recorded_as_often_as_it_says() -> None:
    records = transport.recorded()
    assert list(records) == sorted(cell.name for cell in CELLS)
    for cell in CELLS:
        boots = records[cell.name]
        assert len(boots) == cell.boots or (len(boots) > cell.boots and cell.sure), cell.name
        assert beside.sure(cell, boots), cell.name


def test_a_mean_is_known_by_its_standard_error() -> None:
    """Goodput to 1.8 %, queues to 5.4 %: of two boots the error is half of their distance."""
    cell = next(it for it in CELLS if it.sure)

    def boot(goodput: float, queue: float) -> World:
        return World([Sender("bulk", 0, goodput, 0, [], [])], {"r -> d": Queue(queue, queue)})

    assert beside.sure(cell, [boot(98.3, 94.7), boot(101.7, 105.3)])
    assert not beside.sure(cell, [boot(98.1, 100), boot(101.9, 100)])
    assert not beside.sure(cell, [boot(100, 94.5), boot(100, 105.5)])
    assert beside.sure(cell._replace(sure=False), [boot(1, 1), boot(9, 9)])


def test_an_explanation_is_of_the_cells_that_its_key_fits() -> None:
    table = {"explained": {"100Mbit-*": "a fast one", "mark-linux": "this one"}}
    cells = ("100Mbit-62kB-linux", "100Mbit-625kB-linux-reno", "mark-linux", "mark-linux-reno", "2Mbit-100Mbit-linux")
    assert [transport.explanation(table, cell) for cell in cells] == ["a fast one", "a fast one", "this one", "", ""]
    assert transport.explanation({}, "mark-linux") == ""


def test_every_explanation_is_of_some_cell() -> None:
    """A key that fits no cell would be a slip of the pen."""
    told = tomllib.loads((STATED / "cells.toml").read_text())["tcp"]
    stated = {why for table in told.values() for why in table.get("explained", {}).values()}
    assert stated == {cell.explained for cell in CELLS} - {""}


@pytest.mark.parametrize("cell", [cell for cell in CELLS if transport.windows(cell.name)], ids=lambda cell: cell.name)
def test_a_trace_is_that_of_its_connections(cell: transport.Cell) -> None:
    windows = transport.windows(cell.name)
    assert windows is not None
    assert len(windows) == len(transport.recorded()[cell.name][0].senders) <= transport.TRACED
    assert min(map(min, windows)) >= 1


@pytest.mark.parametrize(
    "cell",
    [it for it in CELLS if it.table in ("drop-tail-100ms-bbr", "shaper-bbr") and "100ms" in it.name],
    ids=lambda cell: cell.name,
)
def test_bbr_starts_with_the_windows_of_the_kernel(cell: transport.Cell) -> None:
    """At each look until a phase is drawn: pauses, rates and the order of what happens at one moment are the same."""
    kernel = transport.windows(cell.name)
    assert kernel is not None
    ours = beside.one(cell._replace(settings=cell.settings | {"scenario.duration": "1s"}), 0)
    assert ours.senders[0].cwnd[15:75] == kernel[0][15:75]


def test_a_boot_begins_at_its_phase_whatever_states_the_start() -> None:
    """Any unit, and a start that no file states."""
    cell = next(it for it in CELLS if it.phased)
    (bulk,) = (it["name"] for it in cell.made().as_tc()["traffic"])
    for start, ns in (({}, 0), ({f"traffic.{bulk}.start": "1500ms"}, 1_500_000_000)):
        (told,) = cell._replace(settings=cell.settings | start).made(2).as_tc()["traffic"]
        assert told["transfers"]["start_ns"] == ns + 2 * transport.PHASE_US * 1000


def test_a_fall_lasts_until_the_window_grows_again() -> None:
    assert beside.mean_fall([10, 7, 7, 5, 6, 7, 3, 4]) == (3 + 1) / 2
    assert beside.mean_fall([4, 5, 3, 3]) == beside.mean_fall([]) == 0


def test_the_page_is_what_the_records_and_perhop_say() -> None:
    found = page.verdicts()
    text = page.text(found)
    if os.environ.get("PERHOP_RENEW"):
        page.main()
    assert page.PAGE.read_text(encoding="utf-8") == text, "make renew WHAT=kernel_tcp writes it again"
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
