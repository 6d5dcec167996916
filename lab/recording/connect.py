"""Records what the kernel's TCP does in every cell, and how far from the records it is: half of `make lab`.

python3 lab/recording/connect.py [--write | --add] [--boots N] [GROUP | TABLE | CELL ...]: with --write the records are
replaced, with --add what is missing is recorded. Without, one boot of each cell, and what differs from all boots on
record.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import beside
import transport
from cells import LAB
from perhop_lab.job import connections_of, job, packets_of
from perhop_lab.worlds import World
from perhop_lab.worlds import recorded as world
from transport import Cell

#: bit/s.
KBIT = 1000
#: Boots at a time, until a mean is known well enough.
MORE = 10


def chosen(names: list[str]) -> list[Cell]:
    """The cells that are named, by group, table or in full; all without names."""
    found = [it for it in transport.all_cells() if not names or {it.name, it.table, it.group} & set(names)]
    known = {name for it in found for name in (it.name, it.table, it.group)}
    if strange := set(names) - known:
        raise SystemExit(f"lab: no cell {', '.join(sorted(strange))} in lab/cells/cells.toml")
    return found


def prepared(cell: Cell) -> dict[str, Any]:
    """What the kernel is to do, by the times of a run of the simulator."""
    scenario = cell.made()
    linux = scenario.as_tc()
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        runs = scenario.run(replications=1, out=Path(made), events=True, jobs=1, progress=False)
        return job(linux, packets_of(runs, linux), connections_of(runs, linux))


def boot(cell: Cell, work: dict[str, Any], number: int, cpu: int) -> World:
    """The kernel's run of a cell: its connections begin at the phase of that number."""
    late = number * transport.PHASE_US * 1000 if cell.phased else 0
    connections = [it | {"start_ns": it["start_ns"] + late} for it in work["connections"]]
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        (folder / "scenario.json").write_text(json.dumps(work | {"connections": connections}))
        subprocess.run([LAB / "run", folder, "1800"], check=True, env=os.environ | {"CPU": str(cpu)})
        found = json.loads((folder / "scenario.out.json").read_text())
    return world(found, work["linux"]["warmup_ns"] * 1e-9, work["linux"]["duration_ns"] * 1e-9)


def boots(todo: list[tuple[Cell, int]]) -> Iterator[World]:
    """The kernel's runs of cells by number, on all processors; progress on standard error."""
    free: SimpleQueue[int] = SimpleQueue()
    for cpu in os.sched_getaffinity(0):
        free.put(cpu)
    work = {name: prepared(cell) for name, cell in {cell.name: cell for cell, _ in todo}.items()}

    def one(it: tuple[Cell, int]) -> World:
        cpu = free.get()
        try:
            return boot(it[0], work[it[0].name], it[1], cpu)
        finally:
            free.put(cpu)

    with ThreadPoolExecutor(free.qsize()) as pool:
        for i, (found, (cell, _)) in enumerate(zip(pool.map(one, todo), todo, strict=True)):
            print(f"\r{i + 1} of {len(todo)}: {cell.name}\033[K", end="", file=sys.stderr, flush=True)
            yield found
    print(file=sys.stderr)


def missing(cell: Cell, have: list[World], most: int) -> range:
    """The numbers of boots to run next: as many as the cell asks, and more until the means are known well enough."""
    enough = len(have) >= cell.boots
    more = 0 if enough and beside.sure(cell, have) else MORE if enough else cell.boots - len(have)
    return range(len(have), min(len(have) + more, most))


def record(cells: list[Cell], have: dict[str, list[World]], most: int) -> None:
    """Runs what is missing of cells, and writes it."""
    while todo := [(it, number) for it in cells for number in missing(it, have[it.name], most)]:
        for (cell, _), found in zip(todo, boots(todo), strict=True):
            have[cell.name].append(found)
        transport.write({cell.name: have[cell.name] for cell, _ in todo})


def changed(cell: Cell, new: World, old: list[World]) -> str:
    """How the first boot differs from the record: of one connection to the kbit/s, else from the range of all boots."""
    rates = [it.goodput_bit_s() for it in (old[:1] if cell.repeats else old)]
    slack = KBIT if cell.repeats else 0.01 * max(rates)
    if min(rates) - slack <= new.goodput_bit_s() <= max(rates) + slack:
        return ""
    return f"{new.goodput_bit_s() / 1e6:.3f} Mbit/s, on record {min(rates) / 1e6:.3f} to {max(rates) / 1e6:.3f}"


def main() -> int:
    """Builds the kernel if needed, records, compares."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--write", action="store_true", help="replace the records")
    reader.add_argument("--add", action="store_true", help="record what is missing")
    reader.add_argument("--boots", type=int, default=1000, help="at most so many of each cell")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    built = subprocess.run([LAB / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        return built.returncode
    which = chosen(asked.names)
    old = transport.recorded()
    if asked.write or asked.add:
        for _, cells in itertools.groupby(which, key=lambda it: it.table):
            table = list(cells)
            record(table, {it.name: old.get(it.name, []) if asked.add else [] for it in table}, asked.boots)
        return 0
    worlds = dict(zip((it.name for it in which), boots([(it, 0) for it in which]), strict=True))
    said = [(it, changed(it, worlds[it.name], old[it.name])) for it in which if it.name in old]
    for cell, words in said:
        if words:
            print(f"{cell.name}: {words}{'' if cell.repeats else ' (draws again)'}")
    unknown, others = len(worlds) - len(said), sum(bool(words) for _, words in said)
    same, broken = len(said) - others, any(words and cell.repeats for cell, words in said)
    print(f"lab: {len(worlds)} cells of TCP: {same} as recorded, {others} changed, {unknown} without a record")
    return 1 if unknown or broken else 0


if __name__ == "__main__":
    sys.exit(main())
