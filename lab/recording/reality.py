"""Records policies under TCP, in the simulator and in `perhop forward` inside the lab's kernel.

reality.py [--seeds N] [--jobs N] [CELL | LAW | CELL/LAW ...]: adds to lab/records/reality.csv what is missing there of
the cells of lab/cells/reality.toml, seed by seed. $FORWARD names the program, or else it is target/release/perhop.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from cells import LAB, RECORDS, STATED
from passed import Figures, figures, recorded, simulated
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
        law, ecn = base["laws"][self.law], ["ecn = true"] if "ecn" in base else []
        return "\n".join([*lines, "[tcp.host]", f'stack = "{law}"', "burst-segments = 1", *ecn, ""])


def all_cells() -> Iterator[Cell]:
    """Every policy with every law."""
    text = tomllib.loads((STATED / "reality.toml").read_text())
    base = text.pop("base")
    for name, own in text.items():
        whole = {**base, **own}
        for law in whole["laws"]:
            yield Cell(name, law, whole)


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
        return figures(simulated(runs, PORT), *times)


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
        return {tuple(row[key] for key in KEYS): {"marked": "0"} | row for row in csv.DictReader(text)}


def keep(rows: Mapping[tuple[str, ...], Mapping[str, str]]) -> None:
    """Writes the table."""
    with TABLE.open("w", encoding="ascii", newline="") as text:
        out = csv.DictWriter(text, [*KEYS, *Figures._fields], lineterminator="\n")
        out.writeheader()
        out.writerows(rows.values())


def missing(cells: Sequence[Cell], seeds: int | None, again: str | None) -> list[Run]:
    """Those that are not on record or of a world to be recorded again, the first seeds of all cells first."""
    known = {key[:4] for key in have() if key[2] != again}
    wanted = [(it, SIMULATOR, SIMULATED) for it in cells] + [(it, LIVE, seeds or it.text["seeds"]) for it in cells]
    runs = [Run(cell, world, seed + 1) for cell, world, most in wanted for seed in range(most)]
    return sorted((it for it in runs if it.keys() not in known), key=lambda it: (it.world == LIVE, it.seed))


def main() -> int:
    """Records what is missing."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seeds", type=int, help="so many runs of the kernel; default: what the cells say")
    reader.add_argument("--jobs", type=int, default=1, help="so many kernels at a time")
    reader.add_argument("--again", choices=[SIMULATOR, LIVE], help="record this world again, where it is on record")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    boot.build()
    which = [it for it in all_cells() if not asked.names or {it.name, it.law, f"{it.name}/{it.law}"} & set(asked.names)]
    todo, rows = missing(which, asked.seeds, asked.again), have()
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
