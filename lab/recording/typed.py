"""Configurations as people type them for `tc`: as they stand in the kernel, imported here, and held side by side.

python3 lab/recording/typed.py [NAME ...]: those of lab/cells/typed, or the named ones. Each runs under the load that
`perhop import` writes, for `DURATION`: its datagrams alone, packet for packet, then all of it with several seeds, for
the goodput of each class. The first line of a file says the rate of the line: of one of 100 Gbit/s, which is no
bottleneck, the kernel has none. What is found is kept in lab/records/typed.csv.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cells import RECORDS, STATED
from perhop.scenario import Scenario
from perhop_lab import boot
from perhop_lab.compared import Both
from perhop_lab.job import connections_of, job, packets_of

TYPED = STATED / "typed"
FILE = RECORDS / "typed.csv"
PORT = "device -> receiver"
NO_LINE = "100Gbit/s"
#: The handle of the line, beyond those that people type.
LINE = "fff0:"
#: What tc takes bursts for that are not said: a timer of 1 ns, as kernels have; user-mode Linux has one of 1 ms.
TIMER = "HZ=1000000000"
NAME_OF_TCP = re.compile(r', "[^"\n]* TCP"')
TCP = re.compile(r"\n\[traffic\.[^\n]*TCP[^\n]*\]\n(?:[^\[\n][^\n]*\n?)+")
CONDITIONER = re.compile(r"\n\[conditioner\.[^\n]*\]\n(?:[^\[\n][^\n]*\n?)+")
#: Long enough for some losses of each connection.
DURATION = ["scenario.duration=10s", "scenario.warmup=2s"]
SEEDS = (1, 2, 3)


class Row(NamedTuple):
    """A figure of both worlds; of a port without class, of `apart ns` the simulator has none."""

    name: str
    seed: int
    kind: str
    what: str
    perhop: float | None
    kernel: float | None


def imported(file: Path) -> str:
    """The scenario that `perhop import` writes."""
    words = [sys.executable, "-m", "perhop", "import", str(file), "--from", "tc", "--link", line_of(file), "--allow"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def line_of(file: Path) -> str:
    """The rate of the line."""
    return file.read_text().splitlines()[0].removeprefix("# line: ")


def commands(file: Path, near: dict[str, str], made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What makes the network, with what is typed at the port in place of the scenario's."""
    here = [it for it in made if it["device"] == near["device"] and it["namespace"] == near["namespace"]]
    own = [it for it in here if it["argv"][0] == "tc" and "clsact" not in it["argv"]]
    kept = [it for it in made if it not in own]
    line = [] if line_of(file) == NO_LINE else _line(line_of(file))
    typed = [re.sub(r"\$\{?DEV\}?", "eth1", it.removeprefix("sudo ")) for it in file.read_text().splitlines()]
    typed = [it for it in typed if it.startswith("tc ")]
    at = f"parent {LINE}1" if line else "root"
    words = [re.sub(r"\broot\b", at, it, count=1) if " qdisc " in it else it for it in typed]
    tc = ["env", TIMER, "tc", "-n", near["namespace"]]
    put = [[*tc, *it.replace("eth1", near["device"]).split()[1:]] for it in line + words]
    return kept + [{"argv": argv} for argv in put]


def _line(rate: str) -> list[str]:
    """A class that takes a packet when the one before it is paid for, as `explain --as tc` has it, by its IP bytes."""
    bits = rate.replace("/s", "").lower()
    line = f"tc class add dev eth1 parent {LINE} classid {LINE}1 htb rate {bits} burst 1 cburst 1"
    return [f"tc qdisc add dev eth1 root stab overhead -14 linklayer ethernet handle {LINE} htb default 1", line]


def both(file: Path, text: str, seed: int) -> Both:
    """A scenario in both worlds, the kernel's port as typed."""
    # The kernel has one length of a packet for its line and the queues: on a simulated line it is that of IP.
    counted = [] if line_of(file) == NO_LINE else ["scenario.accounting=l3"]
    settings = [*DURATION, *counted, f"scenario.seed={seed}"]
    scenario = Scenario(text, file.name, settings)
    # For the network alone: what is typed stands in place of its conditioners and queue.
    bare = CONDITIONER.sub("\n", text) if counted else text
    plain = Scenario(bare, file.name, [*settings, f'links."{PORT}"={{ queue = {{ limit = "1000p" }} }}'])
    linux = dict(plain.as_tc())
    near = next(it for it in linux["ports"] if it["name"] == PORT)["near"]
    linux["commands"] = commands(file, near, linux["commands"])
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        runs = scenario.run(replications=1, out=folder / "runs", events=True, progress=False)
        packets = packets_of(runs, linux)
        (folder / "scenario.json").write_text(json.dumps(job(linux, packets, connections_of(runs, linux))))
        boot.run(folder)
        return Both.of(packets, json.loads((folder / "scenario.out.json").read_text()), runs)


def rows(file: Path) -> Iterator[Row]:
    """Every figure of a configuration."""
    text, name = imported(file), file.stem
    alone = both(file, NAME_OF_TCP.sub("", TCP.sub("\n", text)), SEEDS[0])
    port = next(it for it in alone.ports if it.port == PORT)
    yield Row(name, SEEDS[0], "datagrams", "left", port.left, port.kernel_left)
    for what, figure in (("came", port.came), ("other fate", port.other_fate), ("other mark", port.other_mark)):
        yield Row(name, SEEDS[0], "datagrams", what, None, figure)
    yield Row(name, SEEDS[0], "datagrams", "apart ns", None, max(port.apart_ns, default=0))
    for it in alone.classes:
        for what in ("lost", "delay_p50_ms", "delay_p99_ms"):
            yield Row(name, SEEDS[0], f"alone {it.name}", what, getattr(it.perhop, what), getattr(it.kernel, what))
    for seed in SEEDS:
        for it in both(file, text, seed).classes:
            if it.perhop.goodput_bit_s is not None:
                yield Row(name, seed, it.name, "goodput", it.perhop.goodput_bit_s, it.kernel.goodput_bit_s)


def recorded() -> list[Row]:
    """What is kept."""
    if not FILE.exists():
        return []
    with FILE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]

    def value(text: str) -> float | None:
        return None if text == "" else float(text)

    return [Row(name, int(seed), kind, what, value(one), value(two)) for name, seed, kind, what, one, two in lines]


def keep(name: str, found: list[Row]) -> None:
    """Puts what was found in the place of what was kept of a configuration."""
    kept = sorted([it for it in recorded() if it.name != name] + found, key=lambda it: it.name)
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("configuration", "seed", "of", "what", "perhop", "kernel"))
        for it in kept:
            figures = ("" if figure is None else f"{figure:.7g}" for figure in (it.perhop, it.kernel))
            writer.writerow((it.name, it.seed, it.kind, it.what, *figures))


def main() -> int:
    """Every configuration, or those that are named."""
    boot.build()
    files = [TYPED / f"{name}.tc" for name in sys.argv[1:]] or sorted(TYPED.glob("*.tc"))
    for file in files:
        found = list(rows(file))
        keep(file.stem, found)
        for it in found:
            print(*it)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
