"""Instructions per packet-hop, counted by callgrind and compared with the baseline.

    python3 tests/instructions/count.py              # exit code 1 when one is more than 3 % above the baseline
    python3 tests/instructions/count.py --write      # a new baseline, for the commit that changes the counts
    python3 tests/instructions/count.py --only u,p10 --perhop target/release/perhop

Each workload of `perhop bench` (`crates/cli/src/bench/workloads/*.toml`) is simulated for two lengths; the difference
of the instructions over the difference of the packet-hops is the cost of one, free of start-up, set-up and output.
Instructions do not depend on what else the machine does, but on the compiler: with another rustc than the baseline's
nothing is compared. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORKLOADS = ROOT / "crates" / "cli" / "src" / "bench" / "workloads"
BASELINE = HERE / "baseline.toml"

LENGTHS = {"u": (0.5, 1.5), "p10": (2.0, 3.0), "p100": (2.0, 3.0), "p1000": (1.1, 1.3), "d100": (2.0, 3.0)}
"""Simulated seconds of the two runs; in the P and D workloads every flow has started by then."""

MARGIN = 0.03
"""By how much a count may rise; hash maps are seeded at random, which moves counts by less than 0.1 %."""


def count(perhop: Path, workload: str, seconds: float) -> tuple[int, int]:
    """Instructions and packet-hops of one run."""
    with tempfile.TemporaryDirectory() as out:
        run = [str(perhop), "run", str(WORKLOADS / f"{workload}.toml"), "--replications", "1", "--jobs", "1", "--json"]
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *run]
        command += ["--duration", f"{seconds}s", "--out", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or collected is None:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return int(collected[1]), packet_hops(done.stdout)


def packet_hops(report: str) -> int:
    """Packets that left a link, from the last line of `perhop run --json`."""
    lines = [json.loads(line) for line in report.splitlines()]
    return next(int(line["packet_hops"]) for line in reversed(lines) if "packet_hops" in line)


def measure(perhop: Path, workloads: Iterable[str]) -> dict[str, float]:
    """Instructions per packet-hop of each workload, two runs at a time."""
    chosen = list(workloads)
    runs = [(perhop, workload, seconds) for workload in chosen for seconds in LENGTHS[workload]]
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda run: count(*run), runs))
    pairs = zip(chosen, counts[::2], counts[1::2], strict=True)
    return {name: (long[0] - short[0]) / (long[1] - short[1]) for name, short, long in pairs}


def rustc() -> str:
    """The compiler, as it names itself."""
    return subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True).stdout.strip()


def write(found: dict[str, float]) -> None:
    """A new baseline."""
    counts = "".join(f"{name} = {value:.1f}\n" for name, value in found.items())
    head = "# Instructions per packet-hop, release build; written by count.py --write.\n"
    BASELINE.write_text(f'{head}rustc = "{rustc()}"\n\n[instructions]\n{counts}', encoding="utf-8")


def compare(found: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """Prints each beside its baseline; the names of those that are too far above it."""
    for name, value in found.items():
        before = baseline[name]
        print(f"{name:6} {value:7.1f} instructions per packet-hop, baseline {before:7.1f}: {value / before - 1:+.2%}")
    return [name for name, value in found.items() if value > baseline[name] * (1 + MARGIN)]


def skip(baseline: dict[str, object]) -> str | None:
    """Why nothing can be compared here."""
    if shutil.which("valgrind") is None:
        return "instructions not counted: valgrind is not installed"
    if rustc() != baseline["rustc"]:
        return f"instructions not compared: the baseline is of {baseline['rustc']}, this is {rustc()}"
    return None


def main() -> int:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(description="instructions per packet-hop")
    parser.add_argument("--write", action="store_true", help="write a new baseline")
    parser.add_argument("--only", help="workloads, separated by commas; default: all")
    parser.add_argument("--perhop", type=Path, default=ROOT / "target/release/perhop", help="the binary to count")
    chosen = parser.parse_args()
    workloads = chosen.only.split(",") if chosen.only else list(LENGTHS)
    if chosen.write:
        write(measure(chosen.perhop, workloads))
        return 0
    baseline = tomllib.loads(BASELINE.read_text(encoding="utf-8"))
    why = skip(baseline)
    if why:
        print(why)
        return 0
    above = compare(measure(chosen.perhop, workloads), baseline["instructions"])
    if above:
        print(f"more than {MARGIN:.0%} above the baseline: {', '.join(above)}; if that is worth it, --write a new one")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
