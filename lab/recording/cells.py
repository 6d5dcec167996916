"""The cells of cells.toml, and the files of their vectors."""

from __future__ import annotations

import csv
import gzip
import io
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import patterns

LAB = Path(__file__).resolve().parents[1]
#: What is asked, and what the kernel did.
STATED, RECORDS, VECTORS = LAB / "cells", LAB / "records", LAB / "vectors"
#: `came_ns` is counted from the arrival of the packet before, `left_ns` from the departure of the last one before that
#: departed, so it can be negative; empty for what was dropped. Such differences compress better than times.
COLUMNS = ["came_ns", "bytes", "dscp", "ecn", "port", "left_ns", "ecn_out"]
#: Interfaces of the router in the lab's network: packets leave by the first, come by the second.
LEAVING, COMING = "r1", "r0"


class Cell(NamedTuple):
    """A port and a pattern."""

    port: str
    pattern: str
    text: dict[str, Any]

    @property
    def name(self) -> str:
        """As commands call it."""
        return f"{self.port}/{self.pattern}"

    @property
    def file(self) -> Path:
        """Its vector."""
        return VECTORS / self.port / f"{self.pattern}.csv.gz"

    def commands(self) -> list[str]:
        """The `tc` commands that set its port up."""
        return [_written_out(command) for command in self.text["tc"]]

    def undone(self) -> list[str]:
        """Those that remove it."""
        ends = {
            "{dev} root": f"qdisc del dev {LEAVING} root",
            "{in} ingress": f"qdisc del dev {COMING} ingress",
            "{dev} clsact": f"qdisc del dev {LEAVING} clsact",
        }
        return [undo for mark, undo in ends.items() if any(mark in command for command in self.text["tc"])]


class Row(NamedTuple):
    """A packet at a port: its arrival and departure in nanoseconds of the cell, `None` if it was dropped."""

    arrival: int
    size: int
    dscp: int
    ecn: int
    port: int
    departure: int | None
    ecn_out: int | None


def all_cells() -> Iterator[Cell]:
    """Every port and pattern, in the order of cells.toml; those of TCP are transport.py's."""
    for port, text in tomllib.loads((STATED / "cells.toml").read_text()).items():
        if port == "tcp":
            continue
        for pattern in text["patterns"]:
            yield Cell(port, pattern, text)


def all_patterns() -> dict[str, list[patterns.Datagram]]:
    """The packets of every pattern."""
    text = tomllib.loads((STATED / "patterns.toml").read_text())
    return {name: patterns.datagrams(name, pattern) for name, pattern in text.items()}


def _written_out(command: str) -> str:
    def word(found: re.Match[str]) -> str:
        name = found[1]
        if name == "rest":
            return "protocol ip prio 2 u32 match u32 0 0"
        if name in patterns.DSCP:
            return f"protocol ip prio 1 u32 match ip dsfield {patterns.DSCP[name] << 2:#x} 0xfc"
        if name.isdigit():
            return f"protocol ip prio 1 u32 match ip sport {name} 0xffff"
        return {"dev": LEAVING, "in": COMING}[name]

    return re.sub(r"\{(\w+)\}", word, command)


def read(file: Path) -> list[Row]:
    """The packets of a vector."""
    rows, came, left = [], 0, 0
    with gzip.open(file, "rt", encoding="ascii", newline="") as text:
        for it in csv.DictReader(text):
            came += int(it["came_ns"])
            fate: tuple[int | None, int | None] = (None, None)
            if it["left_ns"]:
                left += int(it["left_ns"])
                fate = (left, int(it["ecn_out"]))
            rows.append(Row(came, int(it["bytes"]), int(it["dscp"]), int(it["ecn"]), int(it["port"]), *fate))
    return rows


def write(file: Path, rows: list[Row]) -> None:
    """A vector."""
    text, came, left = io.StringIO(), 0, 0
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    for it in rows:
        fate = ("", "") if it.departure is None else (it.departure - left, it.ecn_out)
        out.writerow([it.arrival - came, it.size, it.dscp, it.ecn, it.port, *fate])
        came, left = it.arrival, left if it.departure is None else it.departure
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
