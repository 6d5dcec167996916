"""Records `perhop forward` beside the kernel's own queues, in every cell of lab/cells/live.toml.

python3 lab/recording/live.py [--write] [PORT | PORT/PATTERN ...]: each cell is run twice in one kernel, through its
qdisc and through the program that $FORWARD names, or else target/release/perhop. With --write the vectors are replaced.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cells
from cells import LAB, STATED, VECTORS, Cell

#: The line behind a policy's queue where the queue's own shaper is the bottleneck.
NO_BOTTLENECK = "100000Gbit/s"
PROGRAM = Path(os.environ.get("FORWARD", LAB.parent / "target/release/perhop")).resolve()
#: `came_ns` is counted from the packet before, `kernel_ns` from the kernel's last departure before; `live_came_ns` from
#: the packet's arrival in the kernel's run, `live_ns` from its departure there, or from its arrival if the kernel
#: dropped it. Departures are empty for what was dropped.
COLUMNS = ["came_ns", "bytes", "tos", "port", "kernel_ns", "kernel_tos", "live_came_ns", "live_ns", "live_tos"]


class Row(NamedTuple):
    """A packet in both runs: times in nanoseconds of the cell, `None` if it was dropped."""

    came: int
    size: int
    tos: int
    port: int
    kernel: int | None
    kernel_tos: int | None
    live_came: int
    live: int | None
    live_tos: int | None


def all_cells() -> Iterator[Cell]:
    """Every port and pattern; a port of cells.toml has its commands and its policy."""
    known = tomllib.loads((STATED / "cells.toml").read_text())
    for name, text in tomllib.loads((STATED / "live.toml").read_text()).items():
        whole = {"adaptive": [], **known.get(text.get("port"), {}), **text}
        for pattern in text["patterns"]:
            yield Cell(name, pattern, whole)


def file_of(cell: Cell) -> Path:
    """Its vector."""
    return VECTORS / "live" / cell.port / f"{cell.pattern}.csv.gz"


def chosen(names: list[str]) -> list[Cell]:
    """The cells that are named by port or in full; all without names."""
    found = [cell for cell in all_cells() if not names or {cell.port, cell.name} & set(names)]
    if missing := set(names) - {name for cell in found for name in (cell.port, cell.name)}:
        raise SystemExit(f"lab: no cell {', '.join(sorted(missing))} in lab/cells/live.toml")
    return found


def job(which: list[Cell], folder: Path) -> None:
    """The files that lab/guest/inside.py works from: each cell twice."""
    sent = cells.all_patterns()
    for pattern in {cell.pattern for cell in which}:
        (folder / f"{pattern}.packets.json").write_text(json.dumps(sent[pattern]))
    for cell in which:
        (folder / f"{cell.port}.toml").write_text(cell.text["perhop"])
    (folder / "job.json").write_text(json.dumps([run for cell in which for run in _runs(cell)]))


def _runs(cell: Cell) -> list[dict[str, Any]]:
    name = cell.name.replace("/", ".")
    both = {"adaptive": [], "show": [], "packets": f"{cell.pattern}.packets.json"}
    words = [str(PROGRAM), "--policy", f"/run/job/{cell.port}.toml"]
    if "[queue." in cell.text["perhop"]:
        words += ["--queue", "port", "--link", cell.text.get("link", NO_BOTTLENECK)]
    return [
        {"name": f"{name}.kernel", "up": cell.commands(), "down": cell.undone(), **both},
        {"name": f"{name}.live", "up": [], "down": [], "forward": words, **both},
    ]


def rows(cell: Cell, folder: Path) -> list[Row]:
    """What became of the packets of a cell."""
    name = cell.name.replace("/", ".")
    kernel: list[list[Any]]
    live: list[list[Any]]
    kernel, live = (json.loads((folder / f"{name}.{way}.rows.json").read_text()) for way in ("kernel", "live"))
    if [it[1:4] for it in kernel] != [it[1:4] for it in live]:
        raise SystemExit(f"lab: {cell.name}: the two runs were sent different packets")
    return [Row(*theirs, *ours[:1], *ours[4:]) for theirs, ours in zip(kernel, live, strict=True)]


def counted(cell: Cell, folder: Path) -> str:
    """What the forwarder says of itself that differs from what passed; empty if nothing does."""
    name = cell.name.replace("/", ".")
    told = json.loads((folder / f"{name}.live.forward.json").read_text())
    way, seen = told["counts"]["forward"], rows(cell, folder)
    left = sum(row.live is not None for row in seen)
    dropped = sum(way["dropped"].values())
    wrong = (way["came"], way["sent"], dropped) != (len(seen), left, len(seen) - left)
    said = f"it says {way['came']} came, {way['sent']} left, {dropped} were dropped; {len(seen)} came, {left} left"
    return said if wrong or told["said"] else ""


def write(file: Path, found: list[Row]) -> None:
    """A vector."""
    text, came, left = io.StringIO(), 0, 0
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    for it in found:
        kernel = "" if it.kernel is None else it.kernel - left
        base = it.came if it.kernel is None else it.kernel
        live = "" if it.live is None else it.live - base
        tos = ["" if tos is None else tos for tos in (it.kernel_tos, it.live_tos)]
        out.writerow([it.came - came, it.size, it.tos, it.port, kernel, tos[0], it.live_came - it.came, live, tos[1]])
        came, left = it.came, left if it.kernel is None else it.kernel
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def told(found: list[Row]) -> str:
    """How the live run differs from the kernel's."""
    fates = sum((it.kernel is None) != (it.live is None) for it in found)
    both = [it for it in found if it.kernel is not None and it.live is not None]
    marks = sum(it.kernel_tos != it.live_tos for it in both)
    late = max((abs(it.live - it.kernel) for it in both if it.live and it.kernel), default=0)
    early = max(abs(it.live_came - it.came) for it in found)
    return (
        f"{len(found)} packets, {fates} have another fate, {marks} another mark; "
        f"departures at most {late} ns apart, arrivals {early} ns"
    )


def main() -> int:
    """Builds the kernel if needed, records, compares."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--write", action="store_true", help="replace the vectors")
    reader.add_argument("--keep", type=Path, help="leave the kernel's raw records in this folder")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    if not PROGRAM.exists():
        print(f"lab: no {PROGRAM}: cargo build --release -p perhop", file=sys.stderr)
        return 3
    built = subprocess.run([LAB / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        return built.returncode
    which, wrong = chosen(asked.names), 0
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = asked.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        job(which, folder)
        if status := subprocess.run([LAB / "run", folder], check=False).returncode:
            return status
        for cell in which:
            found = rows(cell, folder)
            print(f"{cell.name}: {told(found)}")
            if said := counted(cell, folder):
                print(f"{cell.name}: {said}")
                wrong += 1
            if asked.write:
                write(file_of(cell), found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
