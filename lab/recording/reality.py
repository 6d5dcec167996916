"""Records a policy under TCP in the simulator and in `perhop forward` inside the lab's kernel: cells of lab/cells/reality.toml.

reality.py [--seeds N] [--jobs N] [CELL | LAW | CELL/LAW ...]: adds to lab/records/reality.csv what is missing there, seed by seed.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from cells import LAB, RECORDS, STATED
from perhop.runs import Runs
from perhop.scenario import Scenario
from perhop_lab import boot
from perhop_lab.job import connections_of, job, packets_of

TABLE = RECORDS / "reality.csv"
PROGRAM = Path(os.environ.get("FORWARD", LAB.parent / "target/release/perhop")).resolve()
SOURCES = {"A": "CS2", "B": "CS1", "C": "CS3"}
#: Runs of the simulator: they cost little.
SIMULATED = 20
PORT = "E -> D"
#: Kernels take turns on them.
CPUS = itertools.cycle(sorted(os.sched_getaffinity(0)))
SIMULATOR, LIVE = "simulator", "live"


class Cell(NamedTuple):
    """A policy and a congestion law."""

    name: str
    law: str
    text: dict[str, Any]

    @property
    def policy(self) -> str:
        """As `perhop forward` reads it."""
        return f'[policy]\naccounting = "l3"\n{self.text["policy"]}'

    def scenario(self, policy: bool, seed: int) -> Scenario:
        """With the policy at the port, or with a plain queue in its place."""
        body = self.text["policy"] if policy else '[queue.bottleneck]\nlimit = "1000p"\n'
        names = re.findall(r"^\[conditioner\.([\w-]+)\]", body, re.MULTILINE)
        places = [f'conditioner.{name}.at="{PORT}"' for name in names]
        return Scenario(self._head() + body, f"{self.name}.toml", [*places, f"scenario.seed={seed}"])

    def _head(self) -> str:
        base, sources = self.text, [name for name in SOURCES if name in self.text]
        lines = ["[scenario]", *(f'{key} = "{base[key]}"' for key in ("duration", "warmup")), 'accounting = "l3"']
        lines += ["[links]"]
        lines += [f'"{it} - E" = {{ rate = "100Mbit/s", delay = "{base[it]["delay"]}" }}' for it in sources]
        line = f'rate = "{base["link"]}", delay = "{base["delay"]}"'
        lines += [f'"E - D" = {{ {line} }}', f'"{PORT}" = {{ queue = "bottleneck" }}']
        for it in sources:
            keys = {key: value for key, value in base[it].items() if key != "delay"}
            keys |= {"from": it, "to": "D", "dscp": SOURCES[it], "spread": "500ms"}
            keys |= {"tcp": "host"} if keys["model"] == "ftp" else {}
            lines += [f"[traffic.{it}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
        law = base["laws"][self.law]
        return "\n".join([*lines, "[tcp.host]", f'stack = "{law}"', "burst-segments = 1", ""])


def all_cells() -> Iterator[Cell]:
    """Every policy with every law."""
    text = tomllib.loads((STATED / "reality.toml").read_text())
    base = text.pop("base")
    for name, own in text.items():
        for law in base["laws"]:
            yield Cell(name, law, {**base, **own})


class Passed(NamedTuple):
    """A packet at the port: the class it came with, times in ns, IP bytes, and its TOS byte as it left."""

    source: str
    came: int
    left: int | None
    size: int
    tos: int


class Figures(NamedTuple):
    """A class after the warm-up."""

    mbit_s: float
    share: float
    """Of the bytes that left."""
    dropped: float
    """Of the packets that came."""
    green: float
    """Of the packets that left: AF11."""
    delay_ms: float
    queue: float
    """Mean number of its packets that waited, by Little's law."""


def figures(packets: Sequence[Passed], warmup_ns: int, end_ns: int) -> dict[str, Figures]:
    """Those of every class."""
    seen = [it for it in packets if warmup_ns <= it.came < end_ns]
    span = (end_ns - warmup_ns) * 1e-9
    total = sum(it.size for it in seen if it.left is not None)
    found = {}
    for source in dict.fromkeys(it.source for it in sorted(seen)):
        own = [it for it in seen if it.source == source]
        left = [it for it in own if it.left is not None]
        waited = [(it.left - it.came) * 1e-9 for it in left if it.left is not None]
        size = sum(it.size for it in left)
        found[source] = Figures(
            mbit_s=size * 8e-6 / span,
            share=size / total,
            dropped=1 - len(left) / len(own),
            green=sum(it.tos >> 2 == GREEN for it in left) / len(left),
            delay_ms=1e3 * sum(waited) / len(left),
            queue=sum(waited) / span,
        )
    return found


GREEN = 10
CODE_POINTS = {8: "B", 16: "A", 24: "C"}


def simulated(runs: Runs) -> list[Passed]:
    """What passed the port in the simulator."""
    rows = runs.events()
    columns = ("traffic", "hop", "direction", "in_ns", "out_ns", "fate", "wire_bytes", "dscp")
    return [
        Passed(str(traffic), int(came), int(left) if fate in ("sent", "marked") else None, int(size), int(dscp) << 2)
        for traffic, hop, direction, came, left, fate, size, dscp in zip(*(rows[it] for it in columns), strict=True)
        if str(hop) == PORT and direction == "out" and fate not in ("waiting", "in-flight")
    ]


def recorded(found: Mapping[str, Any]) -> list[Passed]:
    """What passed the forwarder in the kernel."""
    # Behind the delay of the link a packet is seen again.
    behind = {tuple(key): (ns, tos) for ns, tos, _, *key in reversed(found["passed"]["behind"])}
    packets = []
    for came, tos, size, *key in found["passed"]["before"]:
        left, out = behind.get(tuple(key), (None, 0))
        packets.append(Passed(CODE_POINTS.get(tos >> 2, "other"), came, left, size, out))
    return packets


def live(cell: Cell, seed: int) -> dict[str, Figures]:
    """One run of the kernel; its connections begin when those of the simulator's run with that seed do."""
    linux = dict(cell.scenario(policy=False, seed=seed).as_tc())
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        runs = cell.scenario(policy=True, seed=seed).run(
            replications=1, out=folder / "runs", events=True, jobs=1, progress=False
        )
        work = job(linux, packets_of(runs, linux), connections_of(runs, linux))
        words = [str(PROGRAM), "--policy", "/run/job/policy.toml", "--queue", "bottleneck", "--link", cell.text["link"]]
        work["forward"] = {"behind": PORT, "words": [*words, "--seed", str(seed)]}
        (folder / "policy.toml").write_text(cell.policy)
        (folder / "scenario.json").write_text(json.dumps(work))
        boot.run(folder, next(CPUS))
        found = json.loads((folder / "scenario.out.json").read_text())
        if said := found["passed"]["forward"]["said"]:
            print(said, file=sys.stderr)
        return figures(recorded(found), linux["warmup_ns"], linux["duration_ns"])


def simulator(cell: Cell, seed: int) -> dict[str, Figures]:
    """One run of the simulator."""
    scenario = cell.scenario(policy=True, seed=seed)
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        runs = scenario.run(replications=1, out=Path(made), events=True, jobs=1, progress=False)
        times = [int(runs.settings[it] * 1e9) for it in ("warmup_s", "duration_s")]
        return figures(simulated(runs), *times)


KEYS = ["cell", "law", "world", "seed", "class"]


class Run(NamedTuple):
    """A run of a cell in a world."""

    cell: Cell
    world: str
    seed: int

    def figures(self) -> dict[str, Figures]:
        """What came of it."""
        return (live if self.world == LIVE else simulator)(self.cell, self.seed)

    def keys(self) -> tuple[str, ...]:
        """As its rows begin."""
        return (self.cell.name, self.cell.law, self.world, str(self.seed))


def have() -> dict[tuple[str, ...], dict[str, str]]:
    """The rows on record, by their keys."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="ascii", newline="") as text:
        return {tuple(row[key] for key in KEYS): row for row in csv.DictReader(text)}


def keep(rows: Mapping[tuple[str, ...], Mapping[str, str]]) -> None:
    """Writes the table."""
    with TABLE.open("w", encoding="ascii", newline="") as text:
        out = csv.DictWriter(text, [*KEYS, *Figures._fields], lineterminator="\n")
        out.writeheader()
        out.writerows(rows.values())


def missing(cells: Sequence[Cell], seeds: int | None) -> list[Run]:
    """Those that are not on record, the first seeds of all cells first."""
    known = {key[:4] for key in have()}
    worlds = {SIMULATOR: lambda _: SIMULATED, LIVE: lambda cell: seeds or cell.text["seeds"]}
    runs = [Run(it, world, seed + 1) for world, most in worlds.items() for it in cells for seed in range(most(it))]
    return sorted((it for it in runs if it.keys() not in known), key=lambda it: (it.world == LIVE, it.seed))


def main() -> int:
    """Records what is missing."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seeds", type=int, help="so many runs of the kernel; default: what the cells say")
    reader.add_argument("--jobs", type=int, default=1, help="so many kernels at a time")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    boot.build()
    which = [it for it in all_cells() if not asked.names or {it.name, it.law, f"{it.name}/{it.law}"} & set(asked.names)]
    todo, rows = missing(which, asked.seeds), have()
    with ThreadPoolExecutor(asked.jobs) as pool:
        for it, found in zip(todo, pool.map(Run.figures, todo), strict=True):
            for source, its in found.items():
                key = (*it.keys(), source)
                rows[key] = dict(zip(KEYS, key, strict=True)) | {k: f"{v:.6g}" for k, v in its._asdict().items()}
                if it.world == LIVE:
                    print(*key, *(f"{name} {value:.4g}" for name, value in its._asdict().items()), flush=True)
            keep(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
