"""Configurations as people type them for `tc`: as they stand in the kernel, imported here, and held side by side.

python3 lab/recording/typed.py [NAME ...]: those of lab/cells/typed, or the named ones. Each runs twice under the load
that `perhop import` writes: its datagrams alone, packet for packet, and all of it, for the goodput of each class. The
first line of a file says the rate of the line: of one of 100 Gbit/s, which is no bottleneck, the kernel has none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cells import STATED
from perhop.scenario import Scenario
from perhop_lab import boot
from perhop_lab.compared import Both
from perhop_lab.job import connections_of, job, packets_of

TYPED = STATED / "typed"
PORT = "device -> receiver"
NO_LINE = "100Gbit/s"
#: The handle of the line, beyond those that people type.
LINE = "fff0:"
NAME_OF_TCP = re.compile(r', "[^"\n]* TCP"')
TCP = re.compile(r"\n\[traffic\.[^\n]*TCP[^\n]*\]\n(?:[^\[\n][^\n]*\n?)+")


def imported(file: Path) -> str:
    """The scenario that `perhop import` writes."""
    words = [sys.executable, "-m", "perhop", "import", str(file), "--from", "tc", "--link", line_of(file)]
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
    tc = ["tc", "-n", near["namespace"]]
    put = [[*tc, *it.replace("eth1", near["device"]).split()[1:]] for it in line + words]
    return kept + [{"argv": argv} for argv in put]


def _line(rate: str) -> list[str]:
    """A class that takes a packet when the one before it is paid for, as `explain --as tc` has it."""
    bits = rate.replace("/s", "").lower()
    line = f"tc class add dev eth1 parent {LINE} classid {LINE}1 htb rate {bits} burst 1 cburst 1"
    return [f"tc qdisc add dev eth1 root handle {LINE} htb default 1", line]


def both(file: Path, text: str) -> Both:
    """A scenario in both worlds, the kernel's port as typed."""
    scenario = Scenario(text, file.name, [])
    plain = Scenario(text, file.name, [f'links."{PORT}"={{ queue = {{ limit = "1000p" }} }}'])
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


def main() -> int:
    """Every configuration, or those that are named."""
    boot.build()
    files = [TYPED / f"{name}.tc" for name in sys.argv[1:]] or sorted(TYPED.glob("*.tc"))
    for file in files:
        text = imported(file)
        alone = both(file, NAME_OF_TCP.sub("", TCP.sub("\n", text)))
        port = next(it for it in alone.ports if it.port == PORT)
        apart = max(port.apart_ns, default=0)
        print(f"{file.stem}: of {port.came} datagrams {port.other_fate} fare otherwise; at most {apart} ns apart")
        for it in both(file, text).classes:
            ours, theirs = it.perhop.goodput_bit_s, it.kernel.goodput_bit_s
            if ours is not None and theirs:
                more = 100 * (ours / theirs - 1)
                print(f"  {it.name}: {ours / 1e6:.3f} Mbit/s, kernel {theirs / 1e6:.3f}: {more:+.1f} %")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
