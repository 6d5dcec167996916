"""Records what the kernel's TCP does in every cell, and how far from the records it is: half of `make lab`.

python3 tests/kernel/connect.py [--write] [--boots N] [GROUP | TABLE | CELL ...]: with --write the records are
replaced. Without, one boot of each cell, and what differs from all boots on record.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import transport
from perhop.kernel.job import connections_of, job, packets_of
from perhop.kernel.transport import World
from perhop.kernel.transport import recorded as world
from record import CANNOT, LAB
from transport import Cell


def chosen(names: list[str]) -> list[Cell]:
    """The cells that are named, by group, table or in full; all without names."""
    found = [it for it in transport.all_cells() if not names or {it.name, it.table, it.group} & set(names)]
    known = {name for it in found for name in (it.name, it.table, it.group)}
    if missing := set(names) - known:
        raise SystemExit(f"lab: no cell {', '.join(sorted(missing))} in tests/kernel/cells.toml")
    return [it for it in found if not it.unrecorded]


def prepared(cell: Cell) -> dict[str, Any]:
    """What the kernel is to do, by the times of a run of the simulator."""
    scenario = cell.made()
    linux = scenario.as_tc()
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        runs = scenario.run(replications=1, out=Path(made), events=True, jobs=1, progress=False)
        return job(scenario, linux, packets_of(runs, scenario), connections_of(runs, linux))


def boot(cell: Cell, work: dict[str, Any], number: int, cpu: int) -> World:
    """The kernel's run of a cell: its connections begin at the phase of that number."""
    late = number * transport.PHASE_US * 1000 if cell.phased else 0
    connections = [it | {"start_ns": it["start_ns"] + late} for it in work["connections"]]
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        (folder / "scenario.json").write_text(json.dumps(work | {"connections": connections}))
        subprocess.run([LAB / "run", folder, "1800"], check=True, env=os.environ | {"CPU": str(cpu)})
        found = json.loads((folder / "scenario.out.json").read_text())
    return world(found, work["warmup_ns"] * 1e-9, work["duration_ns"] * 1e-9)


def boots(which: list[Cell], most: int) -> dict[str, list[World]]:
    """Runs of all cells, on all processors; progress on standard error."""
    free: SimpleQueue[int] = SimpleQueue()
    for cpu in os.sched_getaffinity(0):
        free.put(cpu)
    work = {cell.name: prepared(cell) for cell in which}
    todo = [(cell, number) for cell in which for number in range(min(cell.boots, most))]
    done = 0

    def one(cell: Cell, number: int) -> World:
        nonlocal done
        cpu = free.get()
        try:
            found = boot(cell, work[cell.name], number, cpu)
        finally:
            free.put(cpu)
        done += 1
        print(f"\r{done} of {len(todo)}: {cell.name}\033[K", end="", file=sys.stderr, flush=True)
        return found

    worlds: dict[str, list[World]] = {}
    with ThreadPoolExecutor(free.qsize()) as pool:
        for (cell, _), found in zip(todo, pool.map(lambda it: one(*it), todo), strict=True):
            worlds.setdefault(cell.name, []).append(found)
    print(file=sys.stderr)
    return worlds


def changed(new: World, old: list[World]) -> str:
    """Whether a boot is outside the range of those on record, widened by a hundredth."""
    rates = [it.goodput_bit_s() for it in old]
    if min(rates) * 0.99 <= new.goodput_bit_s() <= max(rates) * 1.01:
        return ""
    return f"{new.goodput_bit_s() / 1e6:.3f} Mbit/s, on record {min(rates) / 1e6:.3f} to {max(rates) / 1e6:.3f}"


def main() -> int:
    """Builds the kernel if needed, records, compares."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--write", action="store_true", help="replace the records")
    reader.add_argument("--boots", type=int, default=1000, help="at most so many of each cell")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    built = subprocess.run([LAB / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        return 0 if built.returncode == CANNOT else built.returncode
    which = chosen(asked.names)
    if asked.write:
        for _, cells in itertools.groupby(which, key=lambda it: it.table):
            transport.write(boots(list(cells), asked.boots))
        return 0
    worlds = boots(which, 1)
    old = transport.recorded()
    said = {name: changed(found[0], old[name]) for name, found in worlds.items() if name in old}
    for name, words in said.items():
        if words:
            print(f"{name}: {words}")
    missing, others = len(worlds) - len(said), sum(map(bool, said.values()))
    same = len(said) - others
    print(f"lab: {len(worlds)} cells of TCP: {same} as recorded, {others} changed, {missing} without a record")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
