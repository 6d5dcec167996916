"""Shares and delays of repeated recordings of the cells whose queues draw random numbers: repeats.csv.

python3 lab/recording/repeats.py [RUNS [PORT ...]]: records each of them, or of these ports, RUNS times (default 10)
and writes the file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cells
import record
from cells import LAB, RECORDS, Cell, Row

FILE = RECORDS / "repeats.csv"


def figures(rows: list[Row]) -> dict[str, float]:
    """Of each source port the shares dropped and marked; mean and 99th percentile of the delay of what left."""
    found: dict[str, float] = {}
    for port in sorted({row.port for row in rows}):
        own = [row for row in rows if row.port == port]
        found[f"{port} dropped"] = sum(row.departure is None for row in own) / len(own)
        found[f"{port} marked"] = sum(row.ecn_out == 3 for row in own) / len(own)
    delays = sorted(row.departure - row.arrival for row in rows if row.departure is not None)
    found["mean"] = sum(delays) / len(delays)
    found["p99"] = delays[len(delays) * 99 // 100]
    return found


def random(ports: list[str]) -> list[Cell]:
    """The cells whose queues draw, of these ports if any are named."""
    found = [cell for cell in cells.all_cells() if cell.text["kind"] == "random"]
    return [cell for cell in found if not ports or cell.port in ports]


def repeated(which: list[Cell], folder: Path, runs: int) -> None:
    """Records cells, `runs` times in one boot."""
    record.job(which, folder)
    once = json.loads((folder / "job.json").read_text())
    jobs = [{**job, "name": f"{job['name']}.{run}"} for run in range(runs) for job in once]
    (folder / "job.json").write_text(json.dumps(jobs))
    subprocess.run([LAB / "run", folder, "1800"], check=True)


def written(kept: list[str], folder: Path, runs: int) -> dict[str, list[str]]:
    """The lines of each port: of those recorded before, and from a folder of records."""
    lines: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="ascii").splitlines()[1:]:
        if (port := line.split(",")[0]) in kept:
            lines.setdefault(port, []).append(line)
    for cell in (cell for cell in random([]) if cell.port not in kept):
        for run in range(runs):
            rows = record.rows(folder / f"{cell.port}.{cell.pattern}.{run}.rows.json")
            found = (f"{cell.port},{cell.pattern},{run},{what},{value:.6g}" for what, value in figures(rows).items())
            lines.setdefault(cell.port, []).extend(found)
    return lines


def main() -> None:
    """Builds the kernel if needed, records, writes."""
    runs, ports = int(sys.argv[1]) if len(sys.argv) > 1 else 10, sys.argv[2:]
    subprocess.run([LAB / "build.sh"], stdout=subprocess.DEVNULL, check=True)
    which = random(ports)
    kept = {cell.port for cell in random([])} - {cell.port for cell in which}
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        repeated(which, Path(made), runs)
        lines = written(sorted(kept), Path(made), runs)
    order = dict.fromkeys(cell.port for cell in random([]))
    text = [line for port in order for line in lines.get(port, [])]
    FILE.write_text("\n".join(["port,pattern,run,what,value", *text]) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
