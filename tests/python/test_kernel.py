"""The recorded cells of the kernel: complete, and what was sent is what arrived."""

from __future__ import annotations

import csv
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import cells
import patterns
import repeats
import wire

ROOT = Path(__file__).resolve().parents[2]
CELLS = list(cells.all_cells())
SENT = cells.all_patterns()


def test_there_are_enough_cells() -> None:
    assert len({cell.name for cell in CELLS}) == len(CELLS) >= 100
    assert len({cell.pattern for cell in CELLS if cell.text["kind"] == "exact"}) >= 12


def test_every_vector_has_a_cell_and_every_cell_a_vector() -> None:
    files = {str(file.relative_to(cells.VECTORS)) for file in (cells.VECTORS).rglob("*.gz")}
    files = {file for file in files if not file.startswith("live/")}  # those of `forward` have a list of cells apart
    assert files == {str(cell.file.relative_to(cells.VECTORS)) for cell in CELLS}
    assert sum((cells.VECTORS / file).stat().st_size for file in files) < 4_000_000


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_the_router_saw_what_was_sent(cell: cells.Cell) -> None:
    """Of a packet of several datagrams there is a row for each."""
    sent, rows = [it for it in SENT[cell.pattern] for _ in range(it.segments)], cells.read(cell.file)
    assert [(it.size, it.tos, it.port) for it in sent] == [(it.size, it.dscp << 2 | it.ecn, it.port) for it in rows]
    assert all(0 <= row.arrival - it.ns < 100 for row, it in zip(rows, sent, strict=True))
    later = [b.arrival > a.arrival for a, b in pairwise(rows)]
    assert later == [b.ns > a.ns for a, b in pairwise(sent)]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_packets_leave_after_they_came_and_only_the_capable_are_marked(cell: cells.Cell) -> None:
    for row in cells.read(cell.file):
        assert row.departure is None or row.departure >= row.arrival
        assert row.ecn_out in ({row.ecn, 3} if row.ecn and row.departure is not None else {None, row.ecn})


def test_the_commands_are_those_recorded() -> None:
    recorded = tomllib.loads((cells.RECORDS / "kernel.toml").read_text())
    assert recorded["commands"] == {cell.port: ["tc " + it for it in cell.commands()] for cell in CELLS}
    assert {"kernel", "iproute2", "configuration"} < recorded.keys()


def test_every_command_of_the_wire_is_recorded() -> None:
    """In order; what tc refuses has one row that says so."""
    with wire.TABLE.open(encoding="ascii", newline="") as text:
        rows = list(csv.DictReader(text))
    assert list(dict.fromkeys(row["command"] for row in rows)) == tomllib.loads(wire.COMMANDS.read_text())["commands"]
    refused = [row["command"] for row in rows if row["field"] == "refused"]
    assert len(refused) >= 9
    assert all(sum(row["command"] == command for row in rows) == 1 for command in refused)


def test_no_two_packets_of_a_pattern_are_sent_at_once() -> None:
    for name, sent in SENT.items():
        assert all(b.ns - a.ns >= patterns.APART_NS for a, b in pairwise(sent)), name


def test_the_repeats_are_those_of_the_random_cells() -> None:
    with repeats.FILE.open(encoding="ascii", newline="") as text:
        rows = [(row["port"], row["pattern"], row["run"]) for row in csv.DictReader(text)]
    random = {(cell.port, cell.pattern) for cell in CELLS if cell.text["kind"] == "random"}
    assert set(rows) == {(*cell, str(run)) for cell in random for run in range(10)}


def test_an_unknown_key_of_a_stream_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"unknown keys \['rate'\]"):
        patterns.datagrams("x", {"streams": [{"size": 100, "gap": 5, "stop": 1, "rate": 3}]})


def test_where_the_kernel_cannot_be_built_one_line_says_why(tmp_path: Path) -> None:
    for tool in ("sh", "dirname", "cat", "sha256sum", "cut", "uname"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    env = {"PATH": str(tmp_path), "PERHOP_LAB": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = subprocess.run(["/bin/sh", ROOT / "lab" / "build.sh"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("lab: ")
    assert done.stderr.count("\n") == 1
