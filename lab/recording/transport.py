"""The cells of TCP in cells.toml: scenarios of cells/tcp with settings, and what the kernel did in each.

In records/tcp summary.csv has a row for each boot and connection, queues.csv one for each boot and port,
windows/CELL.csv.gz the window of each connection in the first boot, where a cell has at most two.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cells import RECORDS, STATED
from perhop.scenario import Scenario
from perhop_lab.worlds import Queue, Sender, World

#: Scenarios, and what the kernel did in them.
SCENARIOS, FOLDER = STATED / "tcp", RECORDS / "tcp"
SUMMARY, QUEUES, WINDOWS = FOLDER / "summary.csv", FOLDER / "queues.csv", FOLDER / "windows"
SUMMARY_COLUMNS = ["cell", "boot", "traffic", "flow", "goodput_bit_s", "retransmitted", "srtt_ms"]
QUEUE_COLUMNS = ["cell", "boot", "port", "mean_packets", "p99_packets"]
#: By how much later connections begin in each boot where its clock is all that differs.
PHASE_US = 311
#: A trace of more connections is not kept.
TRACED = 2


class Cell(NamedTuple):
    """A scenario and its settings."""

    name: str
    table: str
    group: str
    scenario: Path
    settings: dict[str, Any]
    boots: int
    phased: bool
    """A boot's connections begin at its phase of the kernel's tick, and nothing else is random."""
    exact: bool
    """One connection and nothing random but that: the range of all boots counts, and not their mean."""
    sure: bool
    """There are more boots than `boots` if it takes them to know the kernel's means well (`beside.SURE`)."""
    explained: str
    """Why it is outside the tolerance; empty if it is not."""

    @property
    def repeats(self) -> bool:
        """Whether a boot follows from its phase alone: BBR draws a phase of its cycle."""
        return self.phased and "linux-bbr" not in self.settings.values()

    def made(self, boot: int = 0) -> Scenario:
        """The scenario of a boot."""
        return Scenario.from_toml(self.scenario, self.settings | (self._starts(boot) if self.phased else {}))

    def _starts(self, boot: int) -> dict[str, str]:
        """When the connections of a boot begin."""
        of_tcp = [it for it in Scenario.from_toml(self.scenario, self.settings).as_tc()["traffic"] if it["transfers"]]
        late = boot * PHASE_US * 1000
        return {f"traffic.{it['name']}.start": f"{it['transfers']['start_ns'] + late}ns" for it in of_tcp}


def all_cells() -> Iterator[Cell]:
    """Every cell, in the order of cells.toml."""
    text = tomllib.loads((STATED / "cells.toml").read_text())["tcp"]
    shared = text.pop("axes")
    for name, table in text.items():
        axes = [table["own"][axis] if axis in table.get("own", {}) else shared[axis] for axis in table["axes"]]
        for labels in itertools.product(*axes):
            settings = dict(table.get("settings", {}))
            for axis, label in zip(axes, labels, strict=True):
                settings |= axis[label]
            phased = "phases" in table
            yield Cell(
                name="-".join((name, *labels)),
                table=name,
                group=table["group"],
                scenario=SCENARIOS / table["scenario"],
                settings=settings,
                boots=table["phases" if phased else "boots"],
                phased=phased,
                exact=phased and not table.get("several", False),
                sure=table.get("sure", False),
                explained=explanation(table, "-".join(labels)),
            )


def explanation(table: dict[str, Any], settings: str) -> str:
    """What a table's `explained` says of the cell with these settings; empty if it says nothing."""
    return next((why for which, why in table.get("explained", {}).items() if fnmatchcase(settings, which)), "")


def recorded() -> dict[str, list[World]]:
    """What the kernel did in each cell, boot by boot; windows are not read."""
    senders: dict[tuple[str, int], list[Sender]] = {}
    for it in _rows(SUMMARY):
        goodput, repeats = float(it["goodput_bit_s"]), int(it["retransmitted"])
        one = Sender(it["traffic"], int(it["flow"]), goodput, repeats, [], [float(it["srtt_ms"])])
        senders.setdefault((it["cell"], int(it["boot"])), []).append(one)
    queues: dict[tuple[str, int], dict[str, Queue]] = {}
    for it in _rows(QUEUES):
        waiting = Queue(float(it["mean_packets"]), float(it["p99_packets"]))
        queues.setdefault((it["cell"], int(it["boot"])), {})[it["port"]] = waiting
    found: dict[str, list[World]] = {}
    for (cell, boot), of in sorted(senders.items()):
        found.setdefault(cell, []).append(World(of, queues[cell, boot]))
    return found


def windows(cell: str) -> list[list[float]] | None:
    """The windows of each connection in the first boot, one every `sample`; `None` if they are not kept."""
    file = WINDOWS / f"{cell}.csv.gz"
    if not file.exists():
        return None
    with gzip.open(file, "rt", encoding="ascii") as text:
        rows = [[float(value) for value in row] for row in csv.reader(text)]
    return [list(column) for column in zip(*rows, strict=True)]


def write(worlds: dict[str, list[World]]) -> None:
    """Replaces what is recorded of these cells."""
    old = {name: boots for name, boots in recorded().items() if name not in worlds} if SUMMARY.exists() else {}
    order = [cell.name for cell in all_cells()]
    kept = {name: (old | worlds)[name] for name in order if name in old | worlds}
    _write(SUMMARY, SUMMARY_COLUMNS, _summary(kept))
    _write(QUEUES, QUEUE_COLUMNS, _waiting(kept))
    for name, boots in worlds.items():
        if boots[0].senders[0].cwnd and len(boots[0].senders) <= TRACED:
            rows = zip(*(it.cwnd for it in boots[0].senders), strict=True)
            text = "".join(",".join(f"{value:.0f}" for value in row) + "\n" for row in rows)
            WINDOWS.mkdir(exist_ok=True)
            (WINDOWS / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _summary(worlds: dict[str, list[World]]) -> Iterator[list[Any]]:
    for name, boots in worlds.items():
        for boot, world in enumerate(boots):
            for it in world.senders:
                srtt = sum(it.srtt_ms) / max(len(it.srtt_ms), 1)
                yield [name, boot, it.traffic, it.flow, f"{it.goodput_bit_s:.0f}", it.retransmitted, f"{srtt:.3f}"]


def _waiting(worlds: dict[str, list[World]]) -> Iterator[list[Any]]:
    for name, boots in worlds.items():
        for boot, world in enumerate(boots):
            for port, queue in world.queues.items():
                yield [name, boot, port, f"{queue.mean:.3f}", f"{queue.p99:.0f}"]


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="ascii", newline="") as text:
        return list(csv.DictReader(text))


def _write(file: Path, columns: list[str], rows: Iterator[list[Any]]) -> None:
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(columns)
    out.writerows(rows)
    file.write_text(text.getvalue(), encoding="ascii")
